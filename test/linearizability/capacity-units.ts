import type { Shown, Trace } from "./booking-traces.js";
import { isLinearizable, type Operation, type SequentialObject } from "./linearizable.js";

/** An event of a unit of capacity: five minutes of a practitioner, or the day of a program. */
type UnitCall =
  | { readonly kind: "TAKEN"; readonly by: string }
  | { readonly kind: "GIVEN_BACK"; readonly by: string }
  | { readonly kind: "SEEN_FREE" }
  | { readonly kind: "SEEN_FULL" };

type Holders = ReadonlySet<string>;
type Histories = Map<string, Operation<UnitCall>[]>;

const GRAIN_MS = 300_000;
const BOGOTA_OFFSET_MS = -5 * 3_600_000;
const LIVE = new Set(["PENDING", "CONFIRMED", "CHECKED_IN", "ATTENDED"]);

/** A unit that up to `capacity` appointments can hold, each once. */
function holding(capacity: number): SequentialObject<Holders, UnitCall> {
  return {
    initial: new Set(),
    keyOf: (holders) => [...holders].toSorted().join(),
    next(holders, call) {
      if (call.kind === "TAKEN") return holders.has(call.by) ? undefined : taken(holders, call.by, capacity);
      if (call.kind === "GIVEN_BACK") return holders.has(call.by) ? without(holders, call.by) : undefined;
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
  for (const { call: trace, calledAt, answeredAt } of operations) {
    const add = (unit: string, call: UnitCall) => {
      const history = histories.get(unit) ?? [];
      histories.set(unit, history);
      history.push({ call, calledAt, answeredAt });
    };
    if (trace.kind === "FREE") for (const unit of grainsOf(trace.placement)) add(unit, { kind: "SEEN_FREE" });
    if (trace.kind === "FULL") add(dayOf(trace), { kind: "SEEN_FULL" });
    if (trace.kind !== "CHANGED" || trace.to === undefined) continue;
    const { appointmentId: by, from, to } = trace;
    const [before, after] = [unitsOf(lastBefore(versions.get(by), from)), unitsOf(to)];
    for (const unit of before) if (!after.has(unit)) add(unit, { kind: "GIVEN_BACK", by });
    for (const unit of after) if (!before.has(unit)) add(unit, { kind: "TAKEN", by });
  }
  return histories;
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

function unitsOf(shown: Shown | undefined): Set<string> {
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
