/**
 * The service with a store that does nothing, and beside it connect-node's bare handler with protovalidate, in one process that
 * own-way.mjs starts and asks: both listeners of the service, with everything on but the database, and the handler on a port of
 * its own. Tells its parent where they are.
 */
import { createServer } from "node:http";
import { create, createRegistry } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { pino } from "pino";
import { openDevelopmentIssuer } from "../dist/auth/development-issuer.js";
import { Patient_Status, PatientSchema } from "../dist/gen/cupo/access/v1/patient_pb.js";
import { PatientService } from "../dist/gen/cupo/access/v1/patient_service_pb.js";
import { file_cupo_options_v1_rules as projectRules } from "../dist/gen/cupo/options/v1/rules_pb.js";
import { createChain } from "../dist/interceptors/chain.js";
import { createTurnAway } from "../dist/interceptors/places/turn-away.js";
import { createWorkplaces } from "../dist/interceptors/places/workplaces.js";
import { createStopping } from "../dist/interceptors/stream-life.js";
import { createMessageValidator } from "../dist/interceptors/validation/validate-message.js";
import { openListeners, watchRequests } from "../dist/listeners.js";
import { createMemoryRateLimiter } from "../dist/quotas/memory-rate-limiter.js";
import { listViolations } from "../dist/rest/violations/list-violations.js";
import { scopesOf } from "../dist/scopes.js";
import { createPatientService } from "../dist/services/patients/patient-service.js";
import { readConfig } from "../dist/settings/config.js";
import { openTelemetry } from "../dist/telemetry/open-telemetry.js";
import { encodeTextsByBuffer } from "../dist/text-encoding.js";
import { openTrustedIssuer } from "../dist/trusted-issuer.js";
import { newId } from "../dist/uuid.js";
import { TENANT_ID } from "./registration.mjs";

const QUOTA = 1_000_000_000;
const services = [{ service: PatientService, implementation: createPatientService(Date.now) }];
const config = readConfig({ ...process.env, PORT: "0", INTERNAL_PORT: "0" });
const logger = pino({ level: "info", base: null });

encodeTextsByBuffer();
const own = await openOwnWay();
const bare = createServer(bareHandler());
bare.listen(0, "127.0.0.1", () => {
  process.send({ ...own, bareUrl: `http://127.0.0.1:${bare.address().port}` });
});

process.once("disconnect", () => process.exit());

async function openOwnWay() {
  const issuer = await openTrustedIssuer(config, Date.now, (error) => logger.error(error));
  const validate = createMessageValidator();
  const stopping = createStopping();
  const places = { perPrincipal: QUOTA, perTenant: QUOTA, patienceMs: 2_000 };
  const onError = (error) => logger.error(error);
  const telemetry = await openTelemetry({
    terms: undefined,
    services: [PatientService],
    basePath: config.basePath,
    onError,
  });
  await telemetry.metricsPage();
  const chain = createChain({
    verifyToken: issuer.verifyToken,
    rateLimiter: createMemoryRateLimiter({ perMinute: QUOTA, perSecond: QUOTA }),
    validate,
    listErrors: listViolations,
    places: createWorkplaces(places),
    streams: createWorkplaces(places),
    turnAway: createTurnAway(),
    stopping: stopping.signal,
    store: emptyStore(),
    recordAccess: () => undefined,
    pages: { seal: async (place) => place, open: async (token) => token },
  });
  const parts = { now: Date.now, stopping, chain, validate, services, issueToken: undefined };
  const ready = async () => true;
  const listeners = await openListeners(config, logger, { ...parts, ...watchRequests(telemetry, logger) }, ready);
  return {
    token: await signToken(),
    restUrl: `${listeners.publicUrl}${config.basePath}`,
    connectUrl: listeners.internalUrl,
  };
}

/** Runs the work at once, in a transaction that takes every statement and gives back one row without having sent anything. */
function emptyStore() {
  const transaction = { tenantId: TENANT_ID, rows: async () => [{}], send: () => undefined, require: () => undefined };
  return {
    async execute(_claim, call, _principal, work) {
      call.transaction = transaction;
      await work();
      return { kind: "EXECUTED" };
    },
    read: (_call, _principal, work) => work(),
  };
}

async function signToken() {
  const issuer = await openDevelopmentIssuer({ dataDir: config.dataDir, now: Date.now });
  const scopes = scopesOf(services);
  return issuer.sign({ tenantId: TENANT_ID, client: "bench", scopes, expiresInSeconds: 86_400 });
}

/** What a Connect service is with nothing around it: the library's handler, the rules of the proto, and an answer made at once. */
function bareHandler() {
  const validator = createValidator({ registry: createRegistry(projectRules) });
  const validation = (next) => (request) => {
    const result = validator.validate(request.method.input, request.message);
    if (result.kind === "error") throw result.error;
    if (result.kind === "invalid") throw new ConnectError(result.error.message, Code.InvalidArgument);
    return next(request);
  };
  const registerPatient = ({ documentType, documentNumber, fullName, phone, email }) => {
    const kept = { id: newId(), documentType, documentNumber, fullName, phone, email, version: 1 };
    return { patient: create(PatientSchema, { ...kept, status: Patient_Status.ACTIVE }) };
  };
  return connectNodeAdapter({
    interceptors: [validation],
    routes: (router) => router.service(PatientService, { registerPatient }),
  });
}
