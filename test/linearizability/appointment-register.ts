import type { Shown, Trace } from "./booking-traces.js";
import { isLinearizable, type Operation, type SequentialObject } from "./linearizable.js";

interface Register {
  /** 0 before it is booked. */
  readonly version: number;
  /** What it says; undefined where nobody was told. */
  readonly content: string | undefined;
}

/** An appointment: a register whose changes name the version that they are based on, and give it the next. */
const register: SequentialObject<Register, Trace> = {
  initial: { version: 0, content: undefined },
  keyOf: ({ version, content }) => `${version} ${content}`,
  next(state, trace) {
    switch (trace.kind) {
      case "CHANGED":
        return changed(state, trace.from, trace.to);
      case "MERGED":
        return state.version === 0 ? undefined : { ...state, version: state.version + 1 };
      case "REFUSED":
        return state.version === trace.version ? state : undefined;
      case "SHOWN":
        return seen(state, trace.shown);
      default:
        return state;
    }
  },
};

function changed({ version }: Register, from: number, to: Shown | undefined): Register | undefined {
  if (version !== from || (to !== undefined && to.version !== from + 1)) return undefined;
  return { version: from + 1, content: to && contentOf(to) };
}

function seen({ version, content }: Register, shown: Shown): Register | undefined {
  const told = contentOf(shown);
  return version === shown.version && (content ?? told) === told ? { version, content: told } : undefined;
}

function contentOf({ status, startsAt, endsAt }: Shown): string {
  return `${status} ${Date.parse(startsAt)} ${Date.parse(endsAt)}`;
}

/** The appointments whose history has no legal order, each with all of it. Nothing if all is well. */
export function brokenAppointments(operations: readonly Operation<Trace>[]): string[] {
  const histories = new Map<string, Operation<Trace>[]>();
  const ofAny = operations.filter(({ call }) => call.kind === "MERGED" && call.appointmentId === undefined);
  for (const operation of operations) {
    const { call } = operation;
    if (call.kind === "FREE" || call.kind === "FULL" || call.appointmentId === undefined) continue;
    const history = histories.get(call.appointmentId) ?? [...ofAny];
    histories.set(call.appointmentId, history);
    history.push(operation);
  }
  return [...histories]
    .filter(([, history]) => !isLinearizable(history, register))
    .map(([id, history]) => `appointment ${id} has no legal order: ${JSON.stringify(history)}`);
}
