import type { RunningServer } from "../../src/server.js";
import { startBalancer } from "./balancer.js";
import { eventually } from "./eventually.js";

/** Number of servers behind each test service. TEST_REPLICAS sets it; the default is 1. */
const REPLICAS = Number(process.env["TEST_REPLICAS"] || 1);

/**
 * Starts one server without additional settings. With TEST_REPLICAS above 1 it starts that many servers behind a
 * balancer, with the settings that replicas must share.
 */
export async function startBalancedServers(
  start: (settings: Readonly<Record<string, string>>) => Promise<RunningServer>,
): Promise<RunningServer> {
  if (REPLICAS === 1) return start({});
  const balancer = await startBalancer();
  const { publicUrl, internalUrl } = balancer;
  const settings = { PUBLIC_URL: publicUrl, RATE_LIMIT_STORE: "postgres", REPLICAS: String(REPLICAS) };
  const servers: RunningServer[] = [];
  const close = async (drainMs?: number) => {
    balancer.close();
    await Promise.all(servers.map((server) => server.close(drainMs)));
  };
  try {
    for (let count = 0; count < REPLICAS; count++) servers.push(await start(settings));
    for (const server of servers) balancer.add(server);
    await eventually(() => balancer.readyCount() === REPLICAS);
  } catch (error) {
    await close();
    throw error;
  }
  return { publicUrl, internalUrl, close };
}
