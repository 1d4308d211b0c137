import { randomInt } from "node:crypto";
import { rpcNamed } from "../contract/published-operations.js";
import { brokenAppointments } from "../linearizability/appointment-register.js";
import { openBookingHistory } from "../linearizability/booking-history.js";
import { brokenUnits } from "../linearizability/capacity-units.js";
import { callRpc } from "../support/rpc.js";
import { everythingBroken } from "./invariants.js";
import type { Send } from "./storm-context.js";
import { OFFER_MINUTES } from "./storm-fixture.js";
import type { Twins } from "./twins.js";

/** The observations of a storm over two services. */
export interface StormRecord {
  readonly send: Send;
  /** Checks the invariants through one of the services, and records the broken ones. */
  readonly look: () => Promise<void>;
  /** Records the offers to waitlist entries that jobs made since the last time. */
  readonly noteOffers: () => Promise<void>;
  /** The holds of these offers. */
  readonly offers: ReadonlySet<string>;
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

/** A hold that offers a slot, as the database has it. */
interface Offer {
  readonly holdId: string;
  readonly patientId: string;
  readonly practitionerId: string;
  readonly programId: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  /** Whether it ended unbooked. A merge may have ended it, and then it has the patient who remained. */
  readonly hasEnded: boolean;
}

const OFFERS = `SELECT id AS "holdId", patient_id AS "patientId", practitioner_id AS "practitionerId", program_id AS "programId",
    starts_at AS "startsAt", ends_at AS "endsAt", ended_at IS NOT NULL AND booked_appointment_id IS NULL AS "hasEnded"
  FROM appointment_holds WHERE waitlist_entry_id IS NOT NULL`;

/** Sends each request to one of two services at random, and records the answers. */
export function recordStorm({ both }: Twins): StormRecord {
  const answers = new Map<string, number>();
  const broken = new Set<string>();
  const serverErrors: string[] = [];
  const history = openBookingHistory();
  const offers = new Set<string>();
  let notedAt = performance.now();
  return {
    offers,
    async noteOffers() {
      const since = notedAt;
      notedAt = performance.now();
      const found = (await both[0].query(OFFERS)) as unknown as Offer[];
      for (const { holdId, patientId, startsAt, endsAt, practitionerId, programId, hasEnded } of found) {
        if (offers.has(holdId)) continue;
        offers.add(holdId);
        const placement = { startsAt: startsAt.toISOString(), endsAt: endsAt.toISOString(), practitionerId, programId };
        const lastsMs = OFFER_MINUTES * 60_000;
        const held = { kind: "HELD", holdId, patientId, appointmentId: undefined, placement, lastsMs } as const;
        history.noteOffer(held, since, hasEnded);
      }
    },
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

/**
 * Returns the log lines of the services about internal errors of calls and jobs. On a busy machine the job queue may need
 * more than 5 s to open a connection, and then starts again.
 */
export function failuresLogged({ both }: Twins): readonly Record<string, unknown>[] {
  const isBusy = (msg: unknown) =>
    String(msg).startsWith("background jobs failed and will be repeated: the database cannot be reached");
  return both.flatMap(({ log }) => log).filter(({ cause, msg }) => cause !== undefined && !isBusy(msg));
}
