/**
 * Answers the process that started the service, into which `--import` loads it:
 * - "usage" with the processor time so far, in µs
 * - "start" when a CPU profile has begun
 * - "stop" with that profile and the processor time since "start"
 *
 * The channel does not keep the process alive.
 */
import { type Profiler, Session } from "node:inspector/promises";
import { isMainThread } from "node:worker_threads";

/** A question to the process. */
export type Question = "usage" | "start" | "stop";

/** The answer to a question. */
export interface ProfileAnswer {
  readonly usedUs: number;
  /** Only in the answer to "stop". */
  readonly profile?: Profiler.Profile;
}

const PROFILE_EVERY_US = 200;

if (isMainThread && process.channel !== undefined) {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: PROFILE_EVERY_US });
  process.on("message", (question: Question) => {
    void answer(session, question).then((answered) => process.send?.(answered));
  });
  process.channel.unref();
}

async function answer(session: Session, question: Question): Promise<ProfileAnswer> {
  if (question === "start") await session.post("Profiler.start");
  const { user, system } = process.cpuUsage();
  const usedUs = user + system;
  return question === "stop" ? { usedUs, ...(await session.post("Profiler.stop")) } : { usedUs };
}
