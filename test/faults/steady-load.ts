import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
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

const BEAT_MS = 100;
/** How often a request is sent at most. */
const PATIENCE = 10;
const LIST_LOCATIONS = `/${ReferenceDataService.typeName}/${ReferenceDataService.method.listLocations.name}`;

/**
 * So many clients that register patients over REST, and as many that list locations by gRPC's own client, each of them one
 * call at each beat on one connection that it keeps: where several were pooled, one would lie idle, and any server may
 * close that just when it is taken up again (RFC 9112 section 9.5). A stream that crosses the GOAWAY is refused and was not
 * begun, which gRPC's client, like any, sends again by itself.
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
    return () => register(`${publicUrl}/api/external/v1/patients`, token, agent).catch(String);
  };
  const grpcClient = () => {
    const client = new Client(new URL(internalUrl).host, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${token}`);
    return () =>
      new Promise<string | undefined>((resolve) => {
        const read = (bytes: Buffer) => bytes;
        client.makeUnaryRequest(LIST_LOCATIONS, read, read, Buffer.alloc(0), metadata, (error) =>
          resolve(error === null ? undefined : String(error)),
        );
      });
  };
  const clients = Array.from({ length: ofEachKind }, () => [restClient(), grpcClient()])
    .flat()
    .map(async (call) => {
      while (!end.signal.aborted) {
        await nextBeat(BEAT_MS);
        count(await call());
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

/**
 * Registers a patient, and gives what the answer says where it is no success. Where the service has no room for it now, as on a
 * machine that is overloaded, it is sent again under its key, as any client does.
 */
async function register(url: string, token: string, agent: Agent): Promise<string | undefined> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
  };
  const content = JSON.stringify(registration());
  for (let tries = 1; ; tries++) {
    const sent = request(url, { method: "POST", agent, headers }).end(content);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    const body = await text(answer);
    if (answer.statusCode === 201) return undefined;
    const isPutOff = answer.statusCode === 503 && answer.headers["retry-after"] !== undefined;
    if (!isPutOff || tries === PATIENCE) return `${answer.statusCode} ${body}`;
  }
}
