/**
 * Has the process that loads it answer the one that started it, over their channel: "usage" with the processor time that it has
 * used, in µs; "profile" by profiling itself until the next "profile", which is answered with the CPU profile and the processor
 * time that was used meanwhile. The channel does not keep the process alive. Given by --import, it needs nothing of the program.
 */
import { Session } from "node:inspector/promises";
import { isMainThread } from "node:worker_threads";

const PROFILE_EVERY_US = 200;

if (isMainThread && process.channel !== undefined) {
  const profiler = new Session();
  profiler.connect();
  await profiler.post("Profiler.enable");
  await profiler.post("Profiler.setSamplingInterval", { interval: PROFILE_EVERY_US });
  process.on("message", answering(profiler));
  process.channel.unref();
}

function answering(profiler) {
  let usageBefore;
  const answers = {
    usage: async () => usageUs(process.cpuUsage()),
    async profile() {
      if (usageBefore === undefined) {
        await profiler.post("Profiler.start");
        usageBefore = process.cpuUsage();
        return "profiling";
      }
      const usedUs = usageUs(process.cpuUsage(usageBefore));
      usageBefore = undefined;
      return { ...(await profiler.post("Profiler.stop")), usedUs };
    },
  };
  return (asked) => void answers[asked]?.().then((answer) => process.send(answer));
}

function usageUs({ user, system }) {
  return user + system;
}
