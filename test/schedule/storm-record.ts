import { randomInt } from "node:crypto";
import { rpcNamed } from "../contract/published-operations.js";
import { brokenAppointments } from "../linearizability/appointment-register.js";
import { openBookingHistory } from "../linearizability/booking-history.js";
import { brokenUnits } from "../linearizability/capacity-units.js";
import { callRpc } from "../support/rpc.js";
import { everythingBroken } from "./invariants.js";
import type { Send } from "./storm-context.js";
import type { Twins } from "./twins.js";

/** The observations of a storm over two services. */
export interface StormRecord {
  readonly send: Send;
  /** Checks the invariants through one of the services, and records the broken ones. */
  readonly look: () => Promise<void>;
  /** Number of answers by RPC and status, with keys such as `BookAppointment 409`. */
  readonly answers: ReadonlyMap<string, number>;
  /** The names of all broken invariants seen so far. */
  readonly broken: ReadonlySet<string>;
  /** The answers with status 500 and above, as text. */
  readonly serverErrors: readonly string[];
  /**
   * Returns contradictions between answers: appointments and units of capacity for which no order of the calls explains
   * all answers. Call it after all answers have arrived. `capacities` has the daily capacity of each program.
   */
  contradictions(capacities: ReadonlyMap<string, number>): string[];
}

/** Sends each request to one of two services at random, and records the answers. */
export function recordStorm({ both }: Twins): StormRecord {
  const answers = new Map<string, number>();
  const broken = new Set<string>();
  const serverErrors: string[] = [];
  const history = openBookingHistory();
  return {
    answers,
    broken,
    serverErrors,
    async send(rpc, request) {
      const calledAt = performance.now();
      const answer = await callRpc(both[randomInt(2) as 0 | 1], rpcNamed(rpc), request);
      history.note(rpc, request, calledAt, answer);
      const name = `${rpc} ${answer.status}`;
      answers.set(name, (answers.get(name) ?? 0) + 1);
      if (answer.status >= 500) serverErrors.push(`${rpc} ${answer.text}`);
      return answer;
    },
    contradictions: (capacities) => [
      ...brokenAppointments(history.operations),
      ...brokenUnits(history.operations, capacities),
    ],
    async look() {
      for (const name of await everythingBroken(both[randomInt(2) as 0 | 1])) broken.add(name);
    },
  };
}

/** Returns the log lines of the services about internal errors of calls and jobs. */
export function failuresLogged({ both }: Twins): readonly Record<string, unknown>[] {
  return both.flatMap(({ log }) => log).filter(({ cause }) => cause !== undefined);
}
