import { expect, onTestFinished, test, vi } from "vitest";
import { createStopping } from "../../src/interceptors/stream-life.js";

test("any number of open streams can wait for the stop of the service, without a warning of Node.js", () => {
  const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  const { signal } = createStopping();
  for (let streams = 0; streams < 100; streams++) signal.addEventListener("abort", () => streams);
  expect(warn.mock.calls).toEqual([]);
});

test("the stop of the service ends open streams with an error after which they can be opened again", () => {
  const { signal, stop } = createStopping();
  stop();
  expect(signal.reason).toMatchObject({ code: "SERVICE_UNAVAILABLE", headers: { "Retry-After": "1" } });
});
