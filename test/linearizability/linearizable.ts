/** A call and its answer, with when the one was sent and when the other came, by one monotonic clock. */
export interface Operation<Call> {
  readonly call: Call;
  readonly calledAt: number;
  /** Infinity where no answer came: it was done at any moment from then on, or never. */
  readonly answeredAt: number;
}

/** What an object does where one call comes after the other. */
export interface SequentialObject<State, Call> {
  readonly initial: State;
  /** The state after a call that was answered as it was; undefined where it cannot have been answered so in this state. */
  readonly next: (state: State, call: Call) => State | undefined;
  /** The same text for states that are the same. */
  readonly keyOf: (state: State) => string;
}

/**
 * Whether a history of one object has a legal sequential order: one in which each call takes effect at one moment between being sent
 * and being answered, and is answered as the object would. Calls without an answer may be left out.
 *
 * The search of Wing and Gong (1993) with the memory of Lowe (2017): an order is built call by call, of those that nobody was
 * answered before, and what was tried once, the same calls done with the same state behind them, is not tried again.
 */
export function isLinearizable<State, Call>(
  history: readonly Operation<Call>[],
  object: SequentialObject<State, Call>,
): boolean {
  const operations = history.toSorted((a, b) => a.calledAt - b.calledAt);
  const seen = new Set<string>();
  const waiting: Done<State>[] = [{ state: object.initial, done: new Set(), first: 0 }];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (isWhole(operations, at)) return true;
    const { state, done } = at;
    for (const index of nextOf(operations, at)) {
      const operation = operations[index];
      const after = operation && object.next(state, operation.call);
      if (after === undefined) continue;
      const step = advance(operations, { state: after, done: new Set(done).add(index), first: at.first });
      const key = `${step.first} ${[...step.done].toSorted((a, b) => a - b).join()} ${object.keyOf(after)}`;
      if (seen.has(key)) continue;
      seen.add(key);
      waiting.push(step);
    }
  }
  return false;
}

/** Which operations are done: all before the first, and some of those behind it. */
interface Done<State> {
  readonly state: State;
  readonly done: ReadonlySet<number>;
  readonly first: number;
}

/** Whether all that were answered are done. */
function isWhole<Call>(operations: readonly Operation<Call>[], { done, first }: Done<unknown>): boolean {
  return operations.every(
    ({ answeredAt }, index) => answeredAt === Number.POSITIVE_INFINITY || index < first || done.has(index),
  );
}

/** Those that can be the next one: called before any that is not done was answered. The likeliest, the earliest, last. */
function nextOf<Call>(operations: readonly Operation<Call>[], { done, first }: Done<unknown>): number[] {
  const indexes: number[] = [];
  let firstAnswer = Number.POSITIVE_INFINITY;
  for (let index = first; index < operations.length; index += 1) {
    const operation = operations[index];
    if (operation === undefined || operation.calledAt > firstAnswer) break;
    if (done.has(index)) continue;
    indexes.push(index);
    firstAnswer = Math.min(firstAnswer, operation.answeredAt);
  }
  return indexes.toReversed();
}

/** The same, with what is done in a row counted instead of listed. */
function advance<State>(operations: readonly unknown[], { state, done, first: from }: Done<State>): Done<State> {
  const left = new Set(done);
  let first = from;
  for (; first < operations.length && left.has(first); first += 1) left.delete(first);
  return { state, done: left, first };
}
