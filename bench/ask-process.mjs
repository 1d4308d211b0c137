/** What a process loads, by --import, so that it can be asked. */
export const PROFILE_ON_DEMAND = new URL("profile-on-demand.mjs", import.meta.url).href;

/**
 * Gives a function that asks a process which has loaded profile-on-demand.mjs, one question at a time, and gives its answer.
 *
 * @param {import("node:child_process").ChildProcess} child
 */
export function askProcess(child) {
  const ended = new Promise((_, reject) => {
    child.once("exit", () => reject(new Error("the process ended before it answered")));
  });
  ended.catch(() => undefined);
  return async (question) => {
    const answered = new Promise((resolve) => child.once("message", resolve));
    child.send(question);
    return Promise.race([answered, ended]);
  };
}
