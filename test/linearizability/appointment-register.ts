import type { Shown, Trace } from "./booking-traces.js";
import { isLinearizable, type Operation, type SequentialObject } from "./linearizable.js";

interface Register {
  /** 0 before the booking. Undefined if the answer to the booking was lost and no version is known yet. */
  readonly version: number | undefined;
  /** The content that was shown; undefined if none was. */
  readonly content: string | undefined;
}

/** An appointment as a register. Each change names the version it is based on and increments it. */
const register: Omit<SequentialObject<Register, Trace>, "initial"> = {
  keyOf: ({ version, content }) => `${version} ${content}`,
  next(state, trace) {
    if (trace.kind === "CHANGED") return changed(state, trace.from, trace.to);
    if (trace.kind === "MERGED") return merged(state);
    if (trace.kind === "REFUSED") return judged(state, trace.version);
    return trace.kind === "SHOWN" ? seen(state, trace.shown) : state;
  },
};

function changed({ version }: Register, from: number, to: Shown | undefined): Register | undefined {
  if ((version ?? from) !== from || (to !== undefined && to.version !== from + 1)) return undefined;
  return { version: from + 1, content: to && contentOf(to) };
}

function judged(state: Register, version: number): Register | undefined {
  return (state.version ?? version) === version ? { ...state, version } : undefined;
}

function merged(state: Register): Register | undefined {
  if (state.version === undefined) return state;
  return state.version === 0 ? undefined : { ...state, version: state.version + 1 };
}

function seen({ version, content }: Register, shown: Shown): Register | undefined {
  const told = contentOf(shown);
  return (version ?? shown.version) === shown.version && (content ?? told) === told
    ? { version, content: told }
    : undefined;
}

function contentOf({ status, startsAt, endsAt }: Shown): string {
  return `${status} ${Date.parse(startsAt)} ${Date.parse(endsAt)}`;
}

/**
 * Returns the appointments whose history has no legal order, each with its history. If the answer to the booking was
 * lost, the first known version is the start.
 */
export function brokenAppointments(operations: readonly Operation<Trace>[]): string[] {
  const histories = new Map<string, Operation<Trace>[]>();
  const ofAny = operations.filter(({ call }) => call.kind === "MERGED" && call.appointmentId === undefined);
  for (const operation of operations) {
    const { call } = operation;
    if (!isOfAppointment(call) || call.appointmentId === undefined) continue;
    const history = histories.get(call.appointmentId) ?? [...ofAny];
    histories.set(call.appointmentId, history);
    history.push(operation);
  }
  return [...histories]
    .filter(([, history]) => !isLinearizable(history, { ...register, initial: firstOf(history) }))
    .map(([id, history]) => `appointment ${id} has no legal order: ${JSON.stringify(history)}`);
}

type OfAppointment = Extract<Trace, { readonly kind: "CHANGED" | "MERGED" | "REFUSED" | "SHOWN" }>;

function isOfAppointment(trace: Trace): trace is OfAppointment {
  return ["CHANGED", "MERGED", "REFUSED", "SHOWN"].includes(trace.kind);
}

function firstOf(history: readonly Operation<Trace>[]): Register {
  const isBooked = history.some(({ call }) => call.kind === "CHANGED" && call.from === 0);
  return { version: isBooked ? 0 : undefined, content: undefined };
}
