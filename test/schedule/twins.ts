import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDevelopmentIssuer } from "../../src/auth/development-issuer.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { STORM_SETTINGS } from "./storm-context.js";

/** Two services on one database, which accept the same tokens. */
export interface Twins {
  readonly both: readonly [TestService, TestService];
  close(): Promise<void>;
}

/** Starts two services in the test's own process, so that modules can be mocked, on a database that only they use. */
export async function startTwins(): Promise<Twins> {
  const dataDir = await mkdtemp(join(tmpdir(), "cupo-twins-"));
  const first = await startTestService({ ...STORM_SETTINGS, CUPO_DATA_DIR: dataDir });
  const second = await startTestService({ ...STORM_SETTINGS, CUPO_DATA_DIR: dataDir, DATABASE_URL: first.databaseUrl });
  const issuer = await openDevelopmentIssuer({ dataDir, now: first.now });
  const { tenantId, scopes } = first;
  const token = (claims: TokenFor = {}) =>
    issuer.sign({ tenantId, client: "test", scopes, expiresInSeconds: 3_600, ...claims });
  return {
    both: [
      { ...first, token },
      {
        ...first,
        token,
        log: second.log,
        internalUrl: second.internalUrl,
        publicUrl: second.publicUrl,
        baseUrl: second.baseUrl,
      },
    ],
    async close() {
      await second.close();
      await first.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
