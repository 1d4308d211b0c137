import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { ImportRow } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import type { ImportReport } from "../../gen/cupo/clinic/v1/import_service_pb.js";
import { type ImportOutcome, ImportService } from "../../gen/cupo/clinic/v1/import_service_pb.js";

/** The service that an import calls, and the options of its calls. */
export interface ImportTarget {
  /** URL of the internal listener. */
  readonly url: string;
  /** Access token with the scope import:write. */
  readonly token: string;
  readonly sourceSystem: string;
  readonly validateOnly: boolean;
}

export interface ImportCalls {
  /** Sends a batch, pauses, and returns the outcome of each row. */
  send(rows: readonly ImportRow[]): Promise<readonly ImportOutcome[]>;
  report(): Promise<ImportReport>;
}

/**
 * The pause after each batch, as a fraction of the batch's duration. The service handles other calls during the pause.
 */
const REST = 0.3;
const MAX_TRIES = 12;
const LONGEST_PAUSE_MS = 15_000;
/**
 * Temporary failures: the service cannot be reached or does not answer in time, or an earlier attempt is still running.
 */
const PASSING: ReadonlySet<Code> = new Set([Code.Unavailable, Code.Aborted, Code.Unknown, Code.DeadlineExceeded]);

/** Returns the calls of an import to the service. {@link patiently} repeats each call after temporary failures. */
export function openImportCalls({ url, token, sourceSystem, validateOnly }: ImportTarget): ImportCalls {
  const client = createClient(
    ImportService,
    createConnectTransport({ baseUrl: url, httpVersion: "1.1", useBinaryFormat: true }),
  );
  const authorization = { authorization: `Bearer ${token}` };
  return {
    async send(rows) {
      const headers = { ...authorization, "idempotency-key": randomUUID() };
      const sentAt = performance.now();
      const { outcomes } = await patiently(() =>
        client.importResources({ sourceSystem, rows: [...rows], validateOnly }, { headers }),
      );
      await delay((performance.now() - sentAt) * REST);
      return outcomes;
    },
    async report() {
      return reportOf(client, sourceSystem, authorization);
    },
  };
}

async function reportOf(client: Client<typeof ImportService>, sourceSystem: string, headers: Record<string, string>) {
  const { importReport } = await patiently(() => client.getImportReport({ sourceSystem }, { headers }));
  if (importReport === undefined) throw new Error("the service sent no report");
  return importReport;
}

/**
 * Returns the result of `call`. Repeats the call after a temporary failure ({@link PASSING}), or after any error with
 * Retry-After. Waits for the time in Retry-After, otherwise for a growing pause of at most 15 s. Throws any other
 * error, and the error of the 12th attempt.
 */
export async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const pauseMs = pauseAfter(error, tries);
      if (pauseMs === undefined || tries === MAX_TRIES) throw error;
      await delay(pauseMs);
    }
  }
}

function pauseAfter(error: unknown, tries: number): number | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  const seconds = Number(error.metadata.get("retry-after") ?? 0);
  if (seconds > 0) return seconds * 1_000;
  return PASSING.has(error.code) ? Math.min(250 * 2 ** tries, LONGEST_PAUSE_MS) : undefined;
}
