import type { DATES, Week } from "./week.js";

/** A day of the diary, or the time before the week. */
export type Page = "Before" | keyof typeof DATES;

/** Adds a task to a day. `work` uses RPCs only. */
export type WriteTask = (task: string, work: (week: Week) => Promise<void>) => void;
