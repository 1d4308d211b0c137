import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { deferred } from "../support/deferred.js";
import { registration } from "../support/registration.js";
import { nextBeat } from "./beat.js";

/** Clients that call again and again. */
export interface SteadyLoad {
  /** Resolves when so many more calls are answered. */
  more(calls: number): Promise<void>;
  /** Ends the clients and gives how many calls were answered, and what each said that was no success. */
  stop(): Promise<{ readonly answered: number; readonly failed: readonly string[] }>;
}

/** What a call came to: what it says where it was no success, and whether that is to send it again. */
interface Outcome {
  readonly problem?: string;
  readonly isPutOff?: boolean;
}

const BEAT_MS = 100;
/** How often a request is sent at most, and with which beat again. */
const PATIENCE = 10;
const RETRY_MS = 1_000;
const LIST_LOCATIONS = `/${ReferenceDataService.typeName}/${ReferenceDataService.method.listLocations.name}`;

/**
 * So many clients that register patients over REST, and as many that list locations by gRPC's own client, each of them one
 * call at each beat on one connection that it keeps: where several were pooled, one would lie idle, and any server may
 * close that just when it is taken up again (RFC 9112 section 9.5). A stream that crosses the GOAWAY is refused and was not
 * begun, which gRPC's client, like any, sends again by itself. What the service puts off, as on a machine that is overloaded, is
 * sent again, under its key.
 */
export function startSteadyLoad(
  { publicUrl, internalUrl }: Readonly<Record<"publicUrl" | "internalUrl", string>>,
  token: string,
  ofEachKind: number,
): SteadyLoad {
  const failed: string[] = [];
  let answered = 0;
  const end = new AbortController();
  let wanted = { count: 0, reached: deferred() };
  const count = (problem: string | undefined) => {
    answered += 1;
    if (problem !== undefined) failed.push(problem);
    if (answered >= wanted.count) wanted.reached.resolve();
  };
  const restClient = () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const url = `${publicUrl}/api/external/v1/patients`;
    const fixed = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return () => {
      const headers = { ...fixed, "idempotency-key": randomUUID() };
      const content = JSON.stringify(registration());
      return () => register(request(url, { method: "POST", agent, headers }).end(content));
    };
  };
  const grpcClient = () => {
    const client = new Client(new URL(internalUrl).host, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${token}`);
    return () => () => listLocations(client, metadata);
  };
  const clients = Array.from({ length: ofEachKind }, () => [restClient(), grpcClient()])
    .flat()
    .map(async (nextCall) => {
      while (!end.signal.aborted) {
        await nextBeat(BEAT_MS);
        count(await persist(nextCall()));
      }
    });
  return {
    async more(calls) {
      wanted = { count: answered + calls, reached: deferred() };
      await wanted.reached.promise;
    },
    async stop() {
      end.abort();
      await Promise.all(clients);
      return { answered, failed };
    },
  };
}

/** Sends a call until it is answered otherwise than by being put off, and gives what the last answer says that was no success. */
async function persist(send: () => Promise<Outcome>): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    const { problem, isPutOff } = await send().catch((error): Outcome => ({ problem: String(error) }));
    if (isPutOff !== true || tries === PATIENCE) return problem;
    await nextBeat(RETRY_MS);
  }
}

async function register(sent: ClientRequest): Promise<Outcome> {
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const problem = `${answer.statusCode} ${await text(answer)}`;
  if (answer.statusCode === 201) return {};
  return { problem, isPutOff: answer.statusCode === 503 && answer.headers["retry-after"] !== undefined };
}

function listLocations(client: Client, metadata: Metadata): Promise<Outcome> {
  const read = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    client.makeUnaryRequest(LIST_LOCATIONS, read, read, Buffer.alloc(0), metadata, (error) =>
      resolve(error === null ? {} : { problem: String(error), isPutOff: isFromService(error) }),
    );
  });
}

/** Whether it is the service that puts a call off, and not the client, which has not reached it. */
function isFromService({ code, metadata }: ServiceError): boolean {
  return code === status.UNAVAILABLE && metadata.get("retry-after").length > 0;
}
