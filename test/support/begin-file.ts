import { restartClock } from "./clock.js";

restartClock();

/**
 * libfaketime passes its semaphore to child processes in this variable. A child killed while it holds the semaphore
 * would block all later children at their start. Without the variable each process creates its own semaphore.
 */
delete process.env["FAKETIME_SHARED"];
