import { startService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { register } from "./registration.mjs";

const STARTS = 5;

/**
 * Starts the service over and over, on a database that runs and is migrated, and gives the medians in milliseconds from
 * the start of its process: until it listens, and until the first registration is answered 201.
 *
 * @param {{ dataDir: string, databaseUrl: string, token: string, signal: AbortSignal }} options
 */
export async function measureStart({ token, ...options }) {
  const listening = [];
  const answered = [];
  for (let start = 0; start < STARTS; start += 1) {
    const service = await startService(options);
    try {
      listening.push(performance.now() - service.startedAt);
      await register(service.baseUrl, token);
      answered.push(performance.now() - service.startedAt);
    } finally {
      await service.stop();
    }
  }
  return { listeningMs: median(listening), answeredMs: median(answered) };
}
