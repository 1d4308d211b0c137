/**
 * What was done a second while every connection was busy and warm: from when each had done its first `warmUp` ones until
 * the first of them was at its end. Throws where there was no such time.
 *
 * @param {readonly (readonly number[])[]} ends when each was done, in seconds, in order, for each connection
 * @param {number} warmUp at least 1, and fewer than any connection has done
 */
export function steadyRate(ends, warmUp) {
  const from = Math.max(...ends.map((own) => own[warmUp - 1]));
  const to = Math.min(...ends.map((own) => own.at(-1)));
  if (from < to) return ends.flat().filter((end) => end > from && end <= to).length / (to - from);
  throw new Error("a connection was done before all were warm: there is too little to do");
}
