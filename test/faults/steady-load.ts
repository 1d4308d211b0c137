import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import * as http from "node:http";
import * as https from "node:https";
import { text } from "node:stream/consumers";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { deferred } from "../support/deferred.js";
import { registration } from "../support/registration.js";
import { withoutNewMembers } from "../support/released-members.js";
import { nextBeat } from "./beat.js";

/** The addresses that the clients call. */
export interface LoadTarget {
  readonly publicUrl: string;
  readonly internalUrl: string;
  /** The certificate to trust if the URLs use TLS. */
  readonly ca?: Buffer;
}

/** Clients that call continuously. */
export interface SteadyLoad {
  /** Resolves after this many more calls are answered. */
  more(calls: number): Promise<void>;
  /** Stops the clients. Returns the number of answered calls and the failed answers. */
  stop(): Promise<{ readonly answered: number; readonly failed: readonly string[] }>;
}

/** The result of a call: the problem if it failed, and whether the service asked for a retry. */
interface Outcome {
  readonly problem?: string;
  readonly isPutOff?: boolean;
}

const BEAT_MS = 100;
/** The most attempts of a call, and the milliseconds between the beats of its retries. */
const PATIENCE = 10;
const RETRY_MS = 1_000;
const LIST_LOCATIONS = `/${ReferenceDataService.typeName}/${ReferenceDataService.method.listLocations.name}`;

/**
 * Starts `ofEachKind` clients that register patients over REST and as many that list locations with grpc-js. Each
 * client makes one call per beat, over one connection that it keeps. In a pool of connections some would be idle, and a
 * server may close an idle connection at the moment of its reuse (RFC 9112 section 9.5).
 *
 * grpc-js itself retries a stream that the server did not process because of GOAWAY. A call with 503 and Retry-After,
 * or its gRPC equivalent, is sent again with its key.
 */
export function startSteadyLoad(
  { publicUrl, internalUrl, ca }: LoadTarget,
  token: string,
  ofEachKind: number,
): SteadyLoad {
  const failed: string[] = [];
  const omitted = withoutNewMembers();
  let answered = 0;
  const end = new AbortController();
  let wanted = { count: 0, reached: deferred() };
  const count = (problem: string | undefined) => {
    answered += 1;
    if (problem !== undefined) failed.push(problem);
    if (answered >= wanted.count) wanted.reached.resolve();
  };
  const restClient = () => {
    const { Agent, request } = ca === undefined ? http : https;
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ...(ca && { ca }) });
    const url = `${publicUrl}/api/external/v1/patients`;
    const fixed = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return () => {
      const headers = { ...fixed, "idempotency-key": randomUUID() };
      const content = JSON.stringify(registration(omitted));
      return () => register(request(url, { method: "POST", agent, headers }).end(content));
    };
  };
  const channel = ca === undefined ? credentials.createInsecure() : credentials.createSsl(ca);
  const grpcClient = () => {
    const client = new Client(new URL(internalUrl).host, channel);
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

/**
 * Sends a call until the service does not ask for a retry. Returns the problem of the last answer; undefined for a
 * success.
 */
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

/**
 * Whether the service answered UNAVAILABLE. The client reports the same code, but without retry-after, if it cannot
 * connect.
 */
function isFromService({ code, metadata }: ServiceError): boolean {
  return code === status.UNAVAILABLE && metadata.get("retry-after").length > 0;
}
