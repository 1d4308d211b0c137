import { rpcNamed } from "../contract/published-operations.js";
import { eventually } from "../support/eventually.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import { STORM_SETTINGS } from "./storm-terms.js";

/**
 * Has services open every connection that a storm may need of each, as often as it takes on a machine that is busy: so that what is
 * waited for behind it is what others have locked.
 */
export async function openConnections(services: readonly TestService[]): Promise<void> {
  const each = Array.from({ length: Number(STORM_SETTINGS.DATABASE_CONNECTIONS) }, () => services).flat();
  await Promise.all(each.map((service) => eventually(() => canList(service))));
}

async function canList(service: TestService): Promise<boolean> {
  return (await callRpc(service, rpcNamed("ListLocations"))).status === 200;
}
