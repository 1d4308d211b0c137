import { readFileSync } from "node:fs";

/** A task of the week, and the RPCs that it took, in order. */
export interface Entry {
  readonly day: string;
  readonly task: string;
  readonly rpcs: readonly string[];
}

/** What is written down of a week. */
export interface Diary {
  /** The tasks that are done, in order. */
  readonly entries: readonly Entry[];
  /** Does a task, one at a time, and writes down what was called meanwhile. What fails is not written down. */
  write(day: string, task: string, work: () => Promise<void>): Promise<void>;
  /** Told each RPC as it is called. Outside a task it throws. */
  note(rpc: string): void;
}

/** A diary without entries. */
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
      if (rpcs === undefined) throw new Error(`${rpc} belongs to no task`);
      rpcs.push(rpc);
    },
  };
}

/** The rows that the table of docs/clinic-week.md is to have: day, task, number of calls and RPCs. */
export function rowsOf(entries: readonly Entry[]): string[] {
  return entries.map(({ day, task, rpcs }) => {
    const named = rpcs.map((rpc) => `\`${rpc}\``).join(", ");
    return `| ${day} | ${task} | ${rpcs.length} | ${named} |`;
  });
}

/** The rows that it has. */
export function documentedRows(): string[] {
  const page = readFileSync(new URL("../../../docs/clinic-week.md", import.meta.url), "utf8");
  return page.split("\n").filter((line) => /\| \d+ \|/.test(line));
}
