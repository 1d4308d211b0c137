/** The metrics of a worker in Prometheus' text format. */
export interface WorkerPage {
  /** The number of the worker, from 1; undefined if the worker has ended. */
  readonly worker: number | undefined;
  readonly page: string;
}

/** A metric with its comment lines and its samples. */
interface Family {
  readonly comments: string[];
  readonly type: string;
  /** Values by name and labels, in the order in which the pages first list them. */
  readonly samples: Map<string, number>;
}

const SUMMED = new Set(["counter", "histogram"]);

/**
 * Merges the metrics of workers into one page.
 * - Counters and histograms are summed over all workers, including those that have ended. Otherwise a sum would fall
 *   when a worker ends, and Prometheus would treat this as a restart from 0.
 * - A gauge keeps one sample for each worker that has not ended, with the label `worker`. It is not summed, because a
 *   sum of gauges can be meaningless.
 */
export function mergePages(pages: readonly WorkerPage[]): string {
  const families = new Map<string, Family>();
  for (const { worker, page } of pages) addPage(families, worker, page);
  return [...families.values()].map(textOf).join("");
}

function addPage(families: Map<string, Family>, worker: number | undefined, page: string): void {
  let current: Family | undefined;
  let name = "";
  for (const line of page.split("\n")) {
    const [, keyword, metric = "", rest = ""] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (keyword === undefined) {
      if (current !== undefined && line !== "" && !line.startsWith("#")) addSample(current, worker, line);
      continue;
    }
    if (metric !== name) [current, name] = [undefined, metric];
    current = familyOf(families, metric, line, keyword === "TYPE" ? rest : undefined);
  }
}

function familyOf(families: Map<string, Family>, name: string, comment: string, type: string | undefined): Family {
  const known = families.get(name) ?? emptyFamily();
  const comments = known.comments.includes(comment) ? known.comments : [...known.comments, comment];
  const family = { ...known, comments, type: type ?? known.type };
  families.set(name, family);
  return family;
}

function emptyFamily(): Family {
  return { comments: [], type: "untyped", samples: new Map() };
}

function addSample({ type, samples }: Family, worker: number | undefined, line: string): void {
  const end = line.lastIndexOf(" ");
  const key = line.slice(0, end);
  const value = Number(line.slice(end + 1));
  if (SUMMED.has(type)) samples.set(key, (samples.get(key) ?? 0) + value);
  else if (worker !== undefined) samples.set(withLabel(key, worker), value);
}

function withLabel(key: string, worker: number): string {
  const label = `worker="${worker}"`;
  return key.endsWith("}") ? `${key.slice(0, -1)},${label}}` : `${key}{${label}}`;
}

function textOf({ comments, samples }: Family): string {
  return [...comments, ...Array.from(samples, ([key, value]) => `${key} ${value}`), ""].join("\n");
}
