import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { RestAnswer } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import type { StormFixture } from "./storm-fixture.js";

/** The services, resources and settings of a storm. */
export interface Storm {
  readonly fixture: StormFixture;
  /** The service whose clock defines the booked days. */
  readonly service: TestService;
  /** Number of days to book, from the day after tomorrow. Fewer days cause more conflicts. */
  readonly days: number;
  /** A caller chooses from this many of the earliest options. */
  readonly choices: number;
  readonly send: Send;
  readonly isOver: () => boolean;
  /** Checks the invariants. Called at random moments, while other calls are pending. */
  readonly look: () => Promise<void>;
}

/** Sends a request to one of the services. The status is 0 if no answer arrived. */
export type Send = (rpc: string, request: JsonObject) => Promise<RestAnswer>;

/** Returns a random item. Undefined if the list is empty. */
export function pick<T>(items: readonly T[]): T | undefined {
  return items.length === 0 ? undefined : items[randomInt(items.length)];
}

/**
 * Settings of the services in a storm. A no-show can be marked as soon as the appointment begins. There are enough
 * connections for all callers, so calls wait only for locks.
 */
export const STORM_SETTINGS = { NO_SHOW_GRACE_MINUTES: "0", DATABASE_CONNECTIONS: "20" };
