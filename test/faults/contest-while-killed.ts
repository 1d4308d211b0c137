import { type Contender, type Contest, lineUp } from "../schedule/last-unit.js";
import { type Deferred, deferred } from "../support/deferred.js";
import { type Entry, openJournal } from "./kill-storm-journal.js";
import { replayAll, wrongEffects } from "./kill-storm-verdict.js";
import type { KillableTwins, Victim } from "./killable-twins.js";

/** What came of a fight for the last unit of a day. */
export interface Fight {
  /** What is wrong with it; nothing if all is well. */
  readonly wrong: readonly string[];
  /** How many answers were lost. */
  readonly lost: number;
}

/**
 * Has all contenders go for the one unit of a day at once, and kills a victim as soon as so many of them are answered. When it is
 * back and every key was sent again, one of them has the unit, whoever was acknowledged as the winner has it still, and each
 * left the traces that its answer tells of. The day is free again afterwards, or the one that the winner moved from, unless
 * something is wrong.
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

/** Resolves when it was counted so often. */
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
