import type { DevelopmentIssuer } from "../auth/development-issuer.js";
import { localDateAt } from "../scheduling/local-clock.js";
import { openDemoTransport } from "./demo-transport.js";
import { demoClient } from "./documented-ids.js";
import { fillClinic } from "./fill-clinic.js";
import { largeClinic } from "./large-clinic.js";
import { smallClinic } from "./small-clinic.js";

/** Options for filling the demo tenants. */
export interface FillDemoOptions {
  /** URL of the internal listener of this same process. */
  readonly internalUrl: string;
  readonly issuer: Pick<DevelopmentIssuer, "sign">;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Stops the filling: {@link fillDemo} rejects. It waits for the end of a running call, but not for a retry or a
   * quota.
   */
  readonly signal: AbortSignal;
  /** Called with a line of text for each tenant and after each kind of items. */
  readonly onProgress: (line: string) => void;
}

const TOKEN_LIFETIME_SECONDS = 60;
const SCOPES = [
  "reference:write",
  "configuration:read",
  "configuration:write",
  "scheduling:read",
  "scheduling:write",
  "patients:write",
];

/**
 * Fills the demo tenants through the service's own operations, as the client `demo-setup`. A complete tenant is not
 * changed, and an interrupted filling is continued. Rejects with the error of the first call that fails after all its
 * attempts ({@link openDemoTransport}).
 */
export async function fillDemo({ internalUrl, issuer, now, signal, onProgress }: FillDemoOptions): Promise<void> {
  const year = Number(localDateAt(now()).slice(0, 4));
  for (const clinic of [largeClinic, smallClinic]) {
    const { tenantId } = clinic;
    const token = () =>
      issuer.sign({ tenantId, client: demoClient, scopes: SCOPES, expiresInSeconds: TOKEN_LIFETIME_SECONDS });
    const transport = openDemoTransport({ internalUrl, tenantId, token, signal });
    onProgress(`Demo tenant ${tenantId}, ${clinic.name}`);
    const wasFilled = await fillClinic(clinic, transport, [year, year + 1], (line) => onProgress(`  ${line}`));
    if (wasFilled) onProgress("  already filled");
  }
}
