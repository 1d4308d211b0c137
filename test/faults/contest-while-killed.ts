import { type Contender, type Contest, lineUp } from "../schedule/last-unit.js";
import { type Deferred, deferred } from "../support/deferred.js";
import { type Entry, openJournal } from "./kill-storm-journal.js";
import { replayAll, wrongEffects } from "./kill-storm-verdict.js";
import type { KillableTwins, Victim } from "./killable-twins.js";

/** The result of a contest for the last unit of a day's capacity. */
export interface Fight {
  /** Violations; empty if everything is correct. */
  readonly wrong: readonly string[];
  /** Number of lost answers. */
  readonly lost: number;
}

/**
 * Lets all contenders request the last unit of a day at the same time, and kills a victim as soon as `answered` of them
 * have an answer. After the restart it sends every key again and requires:
 * - exactly one contender has the unit, and an acknowledged winner keeps it
 * - the traces of each contender match its answer
 *
 * If this holds, it frees the unit afterwards, or moves the appointment back.
 */
export async function contendWhileKilled(
  contest: Contest,
  twins: KillableTwins,
  victim: Victim,
  answered: number,
): Promise<Fight> {
  const contenders = await lineUp(contest);
  const journal = openJournal(twins.both, twins.recovery);
  const isTime = countdown(answered);
  const send = async ({ rpc, request }: Contender) => {
    await journal.send(rpc, request);
    isTime.count();
  };
  await Promise.all([...contenders.map(send), isTime.promise.then(() => twins.killAndRestart(victim))]);
  const wrong = [...(await replayAll(journal)), ...(await wrongEffects(journal, twins.both[0])), ...journal.faults];
  const winners = journal.entries.filter(({ success }) => success !== undefined);
  if (winners.length !== 1) wrong.push(`${winners.length} have the last unit`);
  if (wrong.length === 0) await settle(contenders, winners);
  return { wrong, lost: journal.lost.length };
}

async function settle(contenders: readonly Contender[], winners: readonly Entry[]): Promise<void> {
  for (const { request, success } of winners) {
    const winner = contenders.find((contender) => contender.request === request);
    if (success !== undefined) await winner?.settle(success);
  }
}

/** Resolves after `count` was called this many times. */
function countdown(times: number): Pick<Deferred, "promise"> & { readonly count: () => void } {
  const { promise, resolve } = deferred();
  let left = times;
  if (left === 0) resolve();
  return {
    promise,
    count() {
      left -= 1;
      if (left === 0) resolve();
    },
  };
}
