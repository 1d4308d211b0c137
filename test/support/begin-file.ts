import { restartClock } from "./clock.js";

restartClock();

/**
 * libfaketime hands its semaphore on to the processes that are started, by this variable. One of them that is killed while it
 * holds it would stop all later ones before their first instruction; without it each has its own.
 */
delete process.env["FAKETIME_SHARED"];
