import type { WatchPorts } from "../../src/services/events/watch-events.js";

const reject = () => Promise.reject(new Error("no events here"));

/** A hub of events for whoever composes services and watches none. */
export const noEvents: WatchPorts = { hub: { watch: reject, read: reject, findOldest: reject }, heartbeatMs: 1_000 };
