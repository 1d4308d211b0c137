import type { DATES, Week } from "./week.js";

/** A day of the diary, and what comes before the first. */
export type Page = "Before" | keyof typeof DATES;

/** Writes a task of a day: its name, and what is done by RPCs alone. */
export type WriteTask = (task: string, work: (week: Week) => Promise<void>) => void;
