import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { openDevelopmentIssuer } from "../../src/auth/development-issuer.js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { type Balancer, startBalancer } from "../support/balancer.js";
import { createTestDatabase } from "../support/database.js";
import { deferred } from "../support/deferred.js";
import { eventually } from "../support/eventually.js";
import { registration } from "../support/registration.js";
import { sendRequest } from "../support/rest-request.js";
import { compileService, type ServiceProcess } from "../support/service-process.js";

const MANY = "1000000";
const SETTINGS = {
  RATE_LIMIT_PER_MINUTE: MANY,
  RATE_LIMIT_PER_SECOND: MANY,
  CALLS_PER_PRINCIPAL: MANY,
  CALLS_PER_TENANT: MANY,
  DRAIN_SECONDS: "1",
};
const REPLICAS = 3;
const CLIENTS = 3;
const LIMIT_MS = 240_000;

const LIST_LOCATIONS = `/${ReferenceDataService.typeName}/${ReferenceDataService.method.listLocations.name}`;

/** How many calls have to be answered between one replica and the next. */
const BETWEEN = 60;

test(
  "three replicas that are restarted one after the other under load lose no request, over REST and gRPC with connections that are kept",
  async () => {
    const { start, token } = await openGround();
    const balancer = await startBalancer();
    onTestFinished(() => balancer.close());
    const old = await Promise.all(Array.from({ length: REPLICAS }, () => enter(balancer, start)));
    const renewed: ServiceProcess[] = [];
    const load = startLoad(balancer, token);
    for (const replica of old) {
      await load.more(BETWEEN);
      const stopped = replica.stop();
      await eventually(() => !balancer.isReady(replica));
      expect(await stopped).toBe(0);
      balancer.remove(replica);
      renewed.push(await enter(balancer, start));
    }
    await load.more(BETWEEN);
    const { answered, failed } = await load.stop();
    expect(failed).toEqual([]);
    expect(answered).toBeGreaterThan(BETWEEN * (REPLICAS + 1));
    await Promise.all(renewed.map((replica) => replica.stop()));
  },
  LIMIT_MS,
);

/** A database, the compiled service and a token that its replicas take. */
async function openGround() {
  const [database, compiled, dataDir] = await Promise.all([
    createTestDatabase(),
    compileService(),
    mkdtemp(join(tmpdir(), "cupo-rolling-")),
  ]);
  onTestFinished(async () => {
    await compiled.remove();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const issuer = await openDevelopmentIssuer({ dataDir, now: Date.now });
  const scopes = ["patients:write", "configuration:read"];
  const claims = { tenantId: randomUUID(), client: "load", scopes, expiresInSeconds: 3_600 };
  return {
    token: await issuer.sign(claims),
    start: () => compiled.start({ ...SETTINGS, CUPO_DATA_DIR: dataDir, DATABASE_URL: database.url }),
  };
}

async function enter(balancer: Balancer, start: () => Promise<ServiceProcess>): Promise<ServiceProcess> {
  const replica = await start();
  balancer.add(replica);
  await eventually(() => balancer.isReady(replica));
  return replica;
}

/**
 * Clients that register patients over REST and list locations by gRPC's own client, each of them one call behind the other. A
 * stream that crosses the GOAWAY is refused and was not begun, which that client, like any, sends again by itself.
 */
function startLoad({ publicUrl, internalUrl }: Balancer, token: string) {
  const failed: string[] = [];
  let answered = 0;
  const end = new AbortController();
  let wanted = { count: 0, reached: deferred() };
  const count = (problem: string | undefined) => {
    answered += 1;
    if (problem !== undefined) failed.push(problem);
    if (answered >= wanted.count) wanted.reached.resolve();
  };
  const rest = async () => {
    const sent = sendRequest("POST", `${publicUrl}/api/external/v1/patients`, { token, body: registration() });
    const answer = await sent.catch(String);
    return typeof answer === "string" || answer.status !== 201 ? JSON.stringify(answer) : undefined;
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
  const clients = Array.from({ length: CLIENTS }, () => [rest, grpcClient()])
    .flat()
    .map(async (call) => {
      while (!end.signal.aborted) count(await call());
    });
  return {
    /** Resolves when so many more calls are answered. */
    async more(calls: number) {
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
