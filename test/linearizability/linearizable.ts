/** A call with the times of its request and its answer, by one monotonic clock. */
export interface Operation<Call> {
  readonly call: Call;
  readonly calledAt: number;
  /** Infinity if no answer came: the call took effect at any later time, or never. */
  readonly answeredAt: number;
}

/** The sequential behaviour of an object. */
export interface SequentialObject<State, Call> {
  readonly initial: State;
  /** Returns the state after a call with its answer; undefined if the answer is not possible in this state. */
  readonly next: (state: State, call: Call) => State | undefined;
  /** Returns equal texts for equal states. */
  readonly keyOf: (state: State) => string;
}

/**
 * Whether a history of one object is linearizable: each call takes effect at one time between its request and its
 * answer, and the object gives the same answers in that order. Calls without an answer may be omitted.
 *
 * This is the search of Wing and Gong (1993) with the cache of Lowe (2017). It extends an order call by call. A call
 * can be next if it was sent before any other remaining call was answered. A combination of executed calls and state is
 * tried once.
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

/** The executed operations: all before `first`, and those in `done`. */
interface Done<State> {
  readonly state: State;
  readonly done: ReadonlySet<number>;
  readonly first: number;
}

/** Whether all answered operations are executed. */
function isWhole<Call>(operations: readonly Operation<Call>[], { done, first }: Done<unknown>): boolean {
  return operations.every(
    ({ answeredAt }, index) => answeredAt === Number.POSITIVE_INFINITY || index < first || done.has(index),
  );
}

/**
 * Returns the operations that can be next: those sent before any remaining one was answered. The earliest is last,
 * because it is the most likely one and is tried first.
 */
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

/** Moves `first` past the operations that are executed, and removes them from `done`. */
function advance<State>(operations: readonly unknown[], { state, done, first: from }: Done<State>): Done<State> {
  const left = new Set(done);
  let first = from;
  for (; first < operations.length && left.has(first); first += 1) left.delete(first);
  return { state, done: left, first };
}
