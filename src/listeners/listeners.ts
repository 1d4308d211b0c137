import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { withCors } from "../http/cors.js";
import { defaultLimits } from "../http/limits.js";
import { type Listener, type ListenOptions, listen } from "../http/listen.js";
import type { Answerer } from "../http/protocol-server.js";
import type { Chain } from "../interceptors/chain.js";
import type { ErrorObserver } from "../interceptors/problems.js";
import type { Stopping } from "../interceptors/stream-life.js";
import type { MessageValidator } from "../interceptors/validation/validation.js";
import type { DemoTokens } from "../reference-page/reference-pages.js";
import { contained, describe, type HttpHandler, logged, logRefusedConnections, observeError } from "../request-log.js";
import type { ServiceEntry } from "../services/services.js";
import type { Config } from "../settings/config.js";
import type { Telemetry } from "../telemetry/open-telemetry.js";
import { createInternalApi } from "./internal-api.js";
import { type ProblemOptions, socketProblems } from "./problem-answers.js";
import { createPublicApi } from "./public-api.js";

/** The dependencies of both listeners. */
export interface ListenerParts {
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  readonly stopping: Stopping;
  readonly chain: Chain;
  readonly validate: MessageValidator;
  readonly services: readonly ServiceEntry[];
  readonly observe: ErrorObserver;
  readonly log: (listener: "public" | "internal", handler: HttpHandler) => HttpHandler;
  /**
   * Called when the listener closes a new connection, because too many connections are open in all or from one network.
   * Also called when it refuses a request, because clients have left too many answers unread.
   */
  readonly onRefused: () => void;
  readonly metricsPage: () => Promise<Buffer | undefined>;
  readonly demoTokens: DemoTokens | undefined;
}

/** The public and the internal listener, open. */
export interface OpenListeners {
  readonly publicUrl: string;
  readonly internalUrl: string;
  /**
   * Stops gracefully, in these steps:
   * - Readiness becomes false and streams end.
   * - If `drainMs` is above 0, clients are asked to disconnect, and requests are still served for this time. So load
   *   balancers can react.
   * - Requests in flight have {@link GRACE_MS} milliseconds to finish.
   * - The connections that are still open are closed.
   *
   * Resolves after the last step.
   */
  close(drainMs: number): Promise<void>;
}

const ADDRESS_SETTINGS = { public: "HOST or PORT", internal: "INTERNAL_HOST or INTERNAL_PORT" } as const;
const GRACE_MS = 8_000;

/** Opens the public listener, then the internal one. If one listener cannot be opened, closes the other and rejects. */
export async function openListeners(
  config: Config,
  logger: Logger,
  parts: ListenerParts,
  takesWrites: () => Promise<boolean>,
): Promise<OpenListeners> {
  let isClosing = false;
  const isReady = async () => !isClosing && (await takesWrites()) && !isClosing;
  const problemsUrlAt = (ownUrl: string) => config.problemsUrl ?? `${config.publicUrl ?? ownUrl}/problems`;
  const open: Listener[] = [];
  const close = async (drainMs: number) => {
    isClosing = true;
    parts.stopping.stop();
    if (drainMs > 0) {
      for (const listener of open) listener.announceEnd();
      await delay(drainMs);
    }
    await Promise.all(open.map(async (listener) => reportForced(logger, await listener.close(GRACE_MS))));
  };
  try {
    const publicListener = await openListener("public", config, parts, logger, (url) => {
      const { basePath, publicClinicApi } = config;
      const options = { ...parts, basePath, publicClinicApi, problemsUrl: problemsUrlAt(url) };
      return answererOf("public", config, parts, createPublicApi(options), options);
    });
    open.push(publicListener);
    const internalListener = await openListener("internal", config, parts, logger, () => {
      const { reflection } = config;
      const options = { ...parts, problemsUrl: problemsUrlAt(publicListener.url), isReady, reflection };
      return answererOf("internal", config, parts, createInternalApi(options), options);
    });
    open.push(internalListener);
    return { publicUrl: publicListener.url, internalUrl: internalListener.url, close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/**
 * Returns the {@link ListenerParts} that log requests, record them in telemetry and return the metrics page. A handler
 * that throws ends only its request ({@link contained}). `metricsOf` receives the metrics page of this process and
 * returns the page to serve.
 */
export function watchRequests(
  telemetry: Telemetry,
  logger: Logger,
  metricsOf: (own: Telemetry["metricsPage"]) => Telemetry["metricsPage"] = (own) => own,
): Pick<ListenerParts, "observe" | "log" | "onRefused" | "metricsPage"> {
  return {
    observe(error, call) {
      telemetry.service.failed(error, call);
      observeError(error, call, logger);
    },
    log: (listener, handler) => contained(logged(handler, logger, telemetry.requestsOf(listener)), logger),
    onRefused: () => telemetry.service.reached("connections"),
    metricsPage: metricsOf(() => telemetry.metricsPage()),
  };
}

/**
 * Adds CORS and log lines to the handler of a listener. Input that cannot reach the handler, such as unreadable HTTP,
 * is answered with a Problem document.
 */
function answererOf(
  name: keyof typeof ADDRESS_SETTINGS,
  { corsOrigins }: Config,
  { log }: ListenerParts,
  handler: HttpHandler,
  options: ProblemOptions,
): Answerer {
  const answerer = withCors(corsOrigins, { handler, socketError: socketProblems(options) });
  return { ...answerer, handler: log(name, answerer.handler) };
}

function openListener(
  name: keyof typeof ADDRESS_SETTINGS,
  config: Config,
  { onRefused }: ListenerParts,
  logger: Logger,
  answerAt: ListenOptions["answerAt"],
): Promise<Listener> {
  const { tls, connections } = config;
  const logRefused = logRefusedConnections(logger, 60_000);
  return listen({
    ...config[name],
    settings: ADDRESS_SETTINGS[name],
    ...(tls === undefined ? {} : { tls: { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) } }),
    answerAt,
    limits: { ...defaultLimits, ...connections },
    acceptError: (error) => logger.error({ cause: describe(error) }, "accepting a connection failed"),
    refused(limit) {
      onRefused();
      logRefused(limit);
    },
  });
}

function reportForced(logger: Logger, { forced }: { readonly forced: number }): void {
  if (forced > 0)
    logger.warn({ forced }, "connections were closed with requests in flight, because the grace period ended");
}
