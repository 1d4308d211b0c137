import type { Logger } from "pino";
import type { ListenerParts } from "./listeners.js";
import { describe, logged, observeError } from "./request-log.js";
import { servedServices } from "./services/services.js";
import type { Config } from "./settings/config.js";
import { openTelemetry, type Telemetry } from "./telemetry/open-telemetry.js";
import type { TelemetryTerms } from "./telemetry/telemetry-terms.js";

/** Opens the telemetry of a service, of which nothing is sent anywhere unless there are terms. */
export function openServiceTelemetry(
  { basePath }: Config,
  terms: TelemetryTerms | undefined,
  logger: Logger,
): Promise<Telemetry> {
  return openTelemetry({
    terms,
    basePath,
    services: servedServices.map(({ service }) => service),
    onError: (error) => logger.warn({ cause: describe(error) }, "metrics or traces were not sent"),
  });
}

/** How listeners tell log and telemetry of what comes and what becomes of it. */
export function watchRequests(
  telemetry: Telemetry,
  logger: Logger,
): Pick<ListenerParts, "observe" | "log" | "onRefused" | "metricsPage"> {
  return {
    observe(error, call) {
      telemetry.service.failed(error, call);
      observeError(error, call, logger);
    },
    log: (listener, handler) => logged(handler, logger, telemetry.requestsOf(listener)),
    onRefused: () => telemetry.service.reached("connections"),
    metricsPage: () => telemetry.metricsPage(),
  };
}
