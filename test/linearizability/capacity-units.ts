import type { Held, Shown, Trace } from "./booking-traces.js";
import { isLinearizable, type Operation, type SequentialObject } from "./linearizable.js";

/** An event of a unit of capacity: five minutes of a practitioner, or the day of a program. */
type UnitCall =
  | { readonly kind: "TAKEN"; readonly by: string }
  | { readonly kind: "GIVEN_BACK"; readonly by: string }
  /** A hold takes the unit, unless the appointment that it moves has it. */
  | { readonly kind: "HELD"; readonly by: string; readonly unless: string | undefined }
  /** A hold ended, if it had the unit. */
  | { readonly kind: "ENDED"; readonly by: string }
  /** The unit of a hold becomes that of an appointment. */
  | { readonly kind: "BOOKED"; readonly hold: string; readonly by: string }
  | { readonly kind: "SEEN_FREE" }
  | { readonly kind: "SEEN_FULL" };

type Holders = ReadonlySet<string>;
type Histories = Map<string, Operation<UnitCall>[]>;

const GRAIN_MS = 300_000;
const BOGOTA_OFFSET_MS = -5 * 3_600_000;
const LIVE = new Set(["PENDING", "CONFIRMED", "CHECKED_IN", "ATTENDED"]);

/** A unit that up to `capacity` appointments and holds can have, each once. */
function holding(capacity: number): SequentialObject<Holders, UnitCall> {
  return {
    initial: new Set(),
    keyOf: (holders) => [...holders].toSorted().join(),
    next(holders, call) {
      if (call.kind === "TAKEN") return holders.has(call.by) ? undefined : taken(holders, call.by, capacity);
      if (call.kind === "GIVEN_BACK") return holders.has(call.by) ? without(holders, call.by) : undefined;
      if (call.kind === "HELD") return holders.has(`${call.unless}`) ? holders : taken(holders, call.by, capacity);
      if (call.kind === "ENDED") return without(holders, call.by);
      if (call.kind === "BOOKED") return taken(without(without(holders, call.hold), call.by), call.by, capacity);
      const isSo = call.kind === "SEEN_FREE" ? holders.size === 0 : holders.size >= capacity;
      return isSo ? holders : undefined;
    },
  };
}

function taken(holders: Holders, by: string, capacity: number): Holders | undefined {
  return holders.size < capacity ? new Set(holders).add(by) : undefined;
}

function without(holders: Holders, by: string): Holders {
  return new Set([...holders].filter((holder) => holder !== by));
}

/**
 * Returns the units of capacity whose history has no legal order, each with its history. A practitioner has one
 * appointment at a time; the day of a program has as many as `capacities` says, which never changes. Overbooked
 * appointments hold no unit. Assumes that every call was answered.
 */
export function brokenUnits(
  operations: readonly Operation<Trace>[],
  capacities: ReadonlyMap<string, number>,
): string[] {
  return [...unitHistories(operations)]
    .filter(([unit, history]) => !isLinearizable(history, holding(capacities.get(unit.split(" ")[0] ?? "") ?? 1)))
    .map(([unit, history]) => `the capacity of ${unit} has no legal order: ${JSON.stringify(history)}`);
}

function unitHistories(operations: readonly Operation<Trace>[]): Histories {
  const histories: Histories = new Map();
  const versions = versionsIn(operations);
  const holds = holdsIn(operations);
  for (const operation of operations) {
    const { call: trace } = operation;
    const add = (unit: string, call: UnitCall, when: When = operation) => {
      const history = histories.get(unit) ?? [];
      histories.set(unit, history);
      history.push({ call, calledAt: when.calledAt, answeredAt: when.answeredAt });
    };
    for (const ended of endedBy(trace, holds))
      for (const unit of unitsOf(ended)) add(unit, { kind: "ENDED", by: ended.holdId });
    if (trace.kind === "HELD") addHold(trace, operation, add);
    if (trace.kind === "FREE") for (const unit of grainsOf(trace.placement)) add(unit, { kind: "SEEN_FREE" });
    if (trace.kind === "FULL") add(dayOf(trace), { kind: "SEEN_FULL" });
    if (trace.kind !== "CHANGED" || trace.to === undefined) continue;
    const { appointmentId: by, from, to, holdId } = trace;
    const [before, after] = [unitsOf(lastBefore(versions.get(by), from)), unitsOf(to)];
    for (const unit of before) if (!after.has(unit)) add(unit, { kind: "GIVEN_BACK", by });
    for (const unit of after) {
      if (holdId !== undefined) add(unit, { kind: "BOOKED", hold: holdId, by });
      else if (!before.has(unit)) add(unit, { kind: "TAKEN", by });
    }
  }
  return histories;
}

type When = Pick<Operation<UnitCall>, "calledAt" | "answeredAt">;

/** A hold takes its units, and may expire later without an answer that says so. */
function addHold(
  held: Held,
  { calledAt }: Pick<When, "calledAt">,
  add: (unit: string, call: UnitCall, when?: When) => void,
): void {
  const expiry = { calledAt: calledAt + held.lastsMs, answeredAt: Number.POSITIVE_INFINITY };
  for (const unit of unitsOf(held)) {
    add(unit, { kind: "HELD", by: held.holdId, unless: held.appointmentId });
    add(unit, { kind: "ENDED", by: held.holdId }, expiry);
  }
}

function holdsIn(operations: readonly Operation<Trace>[]): readonly Held[] {
  return operations.flatMap(({ call }) => (call.kind === "HELD" ? [call] : []));
}

function endedBy(trace: Trace, holds: readonly Held[]): readonly Held[] {
  if (trace.kind === "RELEASED") return holds.filter(({ holdId }) => holdId === trace.holdId);
  if (trace.kind === "HOLDS_ENDED") return holds.filter(({ patientId }) => patientId === trace.patientId);
  return [];
}

/**
 * Returns the appointments as they were shown, by id and version. A merge shows nothing and does not change the
 * placement.
 */
function versionsIn(operations: readonly Operation<Trace>[]): ReadonlyMap<string, ReadonlyMap<number, Shown>> {
  const versions = new Map<string, Map<number, Shown>>();
  for (const { call } of operations) {
    if (call.kind !== "CHANGED" || call.to === undefined) continue;
    const known = versions.get(call.appointmentId) ?? new Map<number, Shown>();
    versions.set(call.appointmentId, known.set(call.to.version, call.to));
  }
  return versions;
}

function lastBefore(versions: ReadonlyMap<number, Shown> | undefined, from: number): Shown | undefined {
  const known = [...(versions?.keys() ?? [])].filter((version) => version <= from);
  return versions?.get(Math.max(...known));
}

function unitsOf(shown: Shown | Held | undefined): Set<string> {
  if (shown !== undefined && "placement" in shown)
    return new Set([...grainsOf(shown.placement), dayOf(shown.placement)]);
  if (shown === undefined || shown.overbooked === true || !LIVE.has(shown.status)) return new Set();
  const { practitionerId, programId, startsAt, endsAt } = shown;
  if (practitionerId === undefined || programId === undefined) throw new Error("no answer contains its placement");
  return new Set([...grainsOf({ practitionerId, startsAt, endsAt }), dayOf({ programId, startsAt })]);
}

function grainsOf({ practitionerId, startsAt, endsAt }: { practitionerId: string; startsAt: string; endsAt: string }) {
  const [first, end] = [Date.parse(startsAt) / GRAIN_MS, Date.parse(endsAt) / GRAIN_MS];
  return Array.from({ length: Math.ceil(end - first) }, (_, i) => `${practitionerId} ${(first + i) * GRAIN_MS}`);
}

function dayOf({ programId, startsAt }: { programId: string; startsAt: string }): string {
  return `${programId} ${new Date(Date.parse(startsAt) + BOGOTA_OFFSET_MS).toISOString().slice(0, 10)}`;
}
