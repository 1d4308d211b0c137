/** A line of the page: a name with labels, and a value. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A parsed metrics page. */
export interface MetricsPage {
  readonly text: string;
  readonly samples: readonly Sample[];
  /** Returns the sum of all samples with this name and these labels. Undefined if there is none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the metrics of a service. */
export async function readMetrics(internalUrl: string): Promise<MetricsPage> {
  const response = await fetch(`${internalUrl}/metrics`);
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
  return parseMetrics(await response.text());
}

/** Parses a page of metrics. */
export function parseMetrics(text: string): MetricsPage {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const samples = lines.map(parseLine);
  return {
    text,
    samples,
    sum(name, labels = {}) {
      const matching = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      return matching.length === 0 ? undefined : matching.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

function parseLine(line: string): Sample {
  const [, name, labels = "", value] = LINE.exec(line) ?? [];
  if (name === undefined) throw new Error(`not a line of metrics: ${line}`);
  const pairs = Array.from(labels.matchAll(LABEL), ([, label, held]) => [String(label), String(held)] as const);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}
