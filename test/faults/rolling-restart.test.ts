import { expect, onTestFinished, test } from "vitest";
import { type Balancer, startBalancer } from "../support/balancer.js";
import { createTestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { openProcessGround } from "../support/process-ground.js";
import { compileService, type ServiceProcess } from "../support/service-process.js";
import { startSteadyLoad } from "./steady-load.js";

const REPLICAS = 3;
const LIMIT_MS = 240_000;
const CLIENTS = 3;

/** How many calls have to be answered between one replica and the next. */
const BETWEEN = 60;

test(
  "three replicas that are restarted one after the other under load lose no request, over REST and gRPC with connections that are kept",
  async () => {
    const { start, ground } = await openGround();
    const balancer = await startBalancer();
    onTestFinished(() => balancer.close());
    const old = await Promise.all(Array.from({ length: REPLICAS }, () => enter(balancer, start)));
    const renewed: ServiceProcess[] = [];
    const load = startSteadyLoad(balancer, await ground.serviceAt(() => balancer).token(), CLIENTS);
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
  const [database, compiled] = await Promise.all([createTestDatabase(), compileService()]);
  const ground = await openProcessGround(database);
  onTestFinished(async () => {
    compiled.stopAll();
    await database.drop();
    await ground.close();
  });
  const start = () => compiled.start({ ...ground.environment, DRAIN_SECONDS: "2" });
  return { start, ground };
}

async function enter(balancer: Balancer, start: () => Promise<ServiceProcess>): Promise<ServiceProcess> {
  const replica = await start();
  balancer.add(replica);
  await eventually(() => balancer.isReady(replica));
  return replica;
}
