import { readFileSync } from "node:fs";

/** A task of the week and its RPCs, in order. */
export interface Entry {
  readonly day: string;
  readonly task: string;
  readonly rpcs: readonly string[];
}

/** The record of a week. */
export interface Diary {
  /** The completed tasks, in order. */
  readonly entries: readonly Entry[];
  /** Runs a task and records its calls. Tasks run one at a time; a failed task is not recorded. */
  write(day: string, task: string, work: () => Promise<void>): Promise<void>;
  /** Records an RPC. Throws outside a task. */
  note(rpc: string): void;
}

/** Creates an empty diary. */
export function openDiary(): Diary {
  const entries: Entry[] = [];
  let rpcs: string[] | undefined;
  return {
    entries,
    async write(day, task, work) {
      rpcs = [];
      await work();
      entries.push({ day, task, rpcs });
      rpcs = undefined;
    },
    note(rpc) {
      if (rpcs === undefined) throw new Error(`${rpc} was called outside a task`);
      rpcs.push(rpc);
    },
  };
}

/** Returns the expected lines of docs/guide/booking.md: a heading for each day, and its tasks with their RPCs. */
export function linesOf(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ day, task, rpcs }, index) => {
    const line = `- ${task}: ${rpcs.map((rpc) => `\`${rpc}\``).join(", ")}`;
    return day === entries[index - 1]?.day ? [line] : [`## ${day}`, line];
  });
}

/** Returns the days and tasks of docs/guide/booking.md. */
export function documentedLines(): string[] {
  const page = readFileSync(new URL("../../../docs/guide/booking.md", import.meta.url), "utf8");
  return page.split("\n").filter((line) => /^(##|-) /.test(line));
}
