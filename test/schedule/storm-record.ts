import { randomInt } from "node:crypto";
import { rpcNamed } from "../contract/published-operations.js";
import { brokenAppointments } from "../linearizability/appointment-register.js";
import { openBookingHistory } from "../linearizability/booking-history.js";
import { brokenUnits } from "../linearizability/capacity-units.js";
import { callRpc } from "../support/rpc.js";
import { everythingBroken } from "./invariants.js";
import type { Send } from "./storm-terms.js";
import type { Twins } from "./twins.js";

/** What was seen in a storm over two services. */
export interface StormRecord {
  readonly send: Send;
  /** Notes what is broken at this moment, by one of the services. */
  readonly look: () => Promise<void>;
  /** How often each RPC was answered by each status: `BookAppointment 409`. */
  readonly answers: ReadonlyMap<string, number>;
  /** Everything that was ever found broken, each once. */
  readonly broken: ReadonlySet<string>;
  /** The answers of 500 and above, as text. */
  readonly serverErrors: readonly string[];
  /**
   * The appointments and units of capacity of which the callers were told what no order of their calls can make true, once
   * all are answered. `capacities` are those of the programs' days.
   */
  contradictions(capacities: ReadonlyMap<string, number>): string[];
}

/** Sends the requests of a storm to either of two services, at random, and keeps what is seen. */
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

/** The lines that services wrote about calls that failed by a fault of theirs, and of jobs that did. */
export function failuresLogged({ both }: Twins): readonly Record<string, unknown>[] {
  return both.flatMap(({ log }) => log).filter(({ cause }) => cause !== undefined);
}
