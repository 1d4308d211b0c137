import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { listViolations } from "@cupo/connect-rest";
import { pino } from "pino";
import type { Principal } from "../../src/call.js";
import { createChain } from "../../src/interceptors/chain.js";
import { createRejectionPacing } from "../../src/interceptors/concurrency/rejection-pacing.js";
import type { IdempotentWork } from "../../src/interceptors/idempotency.js";
import { messageValidatorOf } from "../../src/interceptors/validation/validate-message.js";
import { createInternalApi } from "../../src/listeners/internal-api.js";
import { createPublicApi } from "../../src/listeners/public-api.js";
import { type HttpHandler, logged } from "../../src/request-log.js";
import { scopesOf } from "../../src/scopes.js";
import type { ServiceEntry } from "../../src/services/services.js";

/** Both listeners of a service that a test composed from its own and real parts. */
export interface ComposedService {
  readonly publicUrl: string;
  readonly internalUrl: string;
  close(): Promise<void>;
}

/**
 * Serves these services through the real interceptors, with these differences:
 * - Every caller is the same principal with every scope.
 * - There are no quotas and no concurrency limits.
 * - Idempotency uses `store`.
 * - The base path is empty.
 */
export async function startComposedService(
  services: readonly ServiceEntry[],
  store: IdempotentWork,
): Promise<ComposedService> {
  const validate = messageValidatorOf;
  const verifyToken = async () => principal;
  const principal = principalFor(services);
  const unlimited = { acquire: async () => () => undefined, rejectionFor: () => undefined };
  const { signal } = new AbortController();
  const chain = createChain({
    verifyToken,
    rateLimiter: { count: async () => [] },
    validate,
    listErrors: listViolations,
    calls: unlimited,
    streams: unlimited,
    paceRejection: createRejectionPacing(),
    stopping: signal,
    store,
    recordAccess: async () => undefined,
    resultSeal: { seal: (result) => result, open: async (sealed) => sealed },
    pages: { seal: async (position) => position, open: async (token) => token },
  });
  const shared = {
    services,
    chain,
    validate,
    observe: () => undefined,
    problemsUrl: "http://127.0.0.1/problems",
    now: () => 0,
  };
  const publicListener = await serve(createPublicApi({ ...shared, basePath: "", publicClinicApi: [] }));
  const internalListener = await serve(
    createInternalApi({ ...shared, isReady: async () => true, stopping: { signal }, reflection: true }),
  );
  return {
    publicUrl: publicListener.url,
    internalUrl: internalListener.url,
    async close() {
      await Promise.all([publicListener.close(), internalListener.close()]);
    },
  };
}

function principalFor(services: readonly ServiceEntry[]): Principal {
  return {
    id: "issuer client",
    issuer: "issuer",
    clientId: "client",
    tenantId: randomUUID(),
    organizationId: undefined,
    companyId: undefined,
    scopes: new Set(scopesOf(services)),
  };
}

async function serve(handler: HttpHandler): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(logged(handler, pino({ enabled: false })));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
