import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { RestAnswer } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import type { StormGround } from "./storm-ground.js";

/** What a storm is made of. */
export interface Storm {
  readonly ground: StormGround;
  /** Whose clock says which days are booked. */
  readonly service: TestService;
  /** How many days are booked, from the day after tomorrow. Fewer are fought for more. */
  readonly days: number;
  /** How many of the options that come soonest a caller chooses from. */
  readonly choices: number;
  readonly send: Send;
  readonly isOver: () => boolean;
  /** Called at random moments, in the middle of it all. */
  readonly look: () => Promise<void>;
}

/** Sends a request to whichever of the services; an answer that never came has the status 0. */
export type Send = (rpc: string, request: JsonObject) => Promise<RestAnswer>;

/** One of several, if there are any. */
export function pick<T>(items: readonly T[]): T | undefined {
  return items.length === 0 ? undefined : items[randomInt(items.length)];
}

/**
 * Settings for the services of a storm: whoever is not there when the appointment begins has not come, and no caller waits for a
 * connection, so that what is waited for is what others have locked.
 */
export const STORM_SETTINGS = { NO_SHOW_GRACE_MINUTES: "0", DATABASE_CONNECTIONS: "20" };
