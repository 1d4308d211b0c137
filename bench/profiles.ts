import { existsSync, readFileSync } from "node:fs";
import { type Profiler, type Runtime } from "node:inspector";
import { SourceMap } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

type Node = Profiler.ProfileNode;
type Frame = Runtime.CallFrame;

/** The time of each stage. */
export interface StageShares {
  /** Shares of the time in which the process was not idle, 0 to 1, the largest first. */
  readonly shares: readonly (readonly [stage: string, share: number])[];
  /** The number of samples in that time. */
  readonly samples: number;
}

const PROJECT = pathToFileURL(`${process.cwd()}/`).href;
const COMPILED = new URL("dist/", PROJECT).href;

/** Stages of a call by the files of their functions. */
const STAGES: readonly (readonly [stage: string, files: RegExp])[] = [
  ["idle", /\/bench\/profile-on-demand\.[jt]s$/],
  ["socket", /\/http\//],
  ["call opened, log line", /\/(request-log|interceptors\/open-call)\.[jt]s|\/(pino|sonic-boom|thread-stream)\//],
  ["metrics", /\/telemetry\/|\/@opentelemetry\//],
  [
    "route",
    /\/rest\/(routes\/|request-target)|\/rpc\/handler\.[jt]s|\/(public|internal)-api\.[jt]s|\/problem-pages\.[jt]s|\/openapi\/|\/reference-page\//,
  ],
  ["token", /\/auth\/|\/interceptors\/(authentication|authorization)\.[jt]s/],
  ["quota", /\/quotas\/|\/rate-limiter-flexible\/|\/interceptors\/rate-limit\.[jt]s/],
  ["headers of the request", /\/interceptors\/(request-headers|actor)\.[jt]s|\/rest\/(media-type|web-headers)\.[jt]s/],
  [
    "body",
    /\/rest\/(read-body|read-json-body|gone-signal)\.[jt]s|\/rpc\/(read-message-bytes|time-limit)\.[jt]s|\/json\/read-json\.[jt]s/,
  ],
  ["message", /\/rest\/(bind-request|read-path|json\/read)|\/rest\/json\/message-fields|\/rpc\/(message-|check-)/],
  ["validation", /\/interceptors\/(validation\/|loop-turns)|\/protovalidate\/|\/cel\//],
  ["permits", /\/interceptors\/(concurrency-limit|concurrency\/\w[\w-]*)\.[jt]s/],
  ["idempotency", /\/interceptors\/idempotency\.[jt]s/],
  ["words of a patient", /\/postgres\/search\//],
  ["Knex", /\/(knex|tarn)\//],
  ["statements", /\/postgres\//],
  ["driver: pg", /\/(pg|pg-[a-z-]+|postgres-[a-z-]+)\//],
  ["slots, dates and times", /\/scheduling\/|\/services\/schedule\/plan-|\/temporal-(polyfill|utils)\//],
  ["tokens of options", /\/option-tokens\//],
  ["service", /\/services\/|\/uuid\.[jt]s/],
  ["redaction", /\/interceptors\/redaction\.[jt]s/],
  [
    "answer",
    /\/rest\/(send-response|render|json\/write|handler)|\/interceptors\/(response-headers|answering-calls)\.[jt]s|\/rpc\/connect-method\.[jt]s/,
  ],
  ["compression", /\/compression\.[jt]s$|^node:zlib$/],
  ["background jobs", /\/jobs\//],
  ["change feed", /\/events\//],
  ["calls through the chain", /\/rest\/(invoke|endpoint)\.[jt]s|\/@connectrpc\/|\/interceptors\//],
];

/** Stages of functions that belong to no file; `dispatch` is the profiler's own. */
const FUNCTIONS: readonly (readonly [stage: string, functions: RegExp])[] = [
  ["garbage collection", /^\(garbage collector\)$/],
  ["idle", /^\(idle\)$/],
  ["idle", /^dispatch$/],
];

/** Node's own modules for sockets. */
const SOCKETS = /^node:(_http|http2|net|tls|events|internal\/(http2|stream|net))/;
const EVENT_LOOP = "event loop";

/** Joins CPU profiles that were taken one after the other. Nodes with the same callers become one. */
export function mergeProfiles(profiles: readonly Profiler.Profile[]): Profiler.Profile {
  const nodes: Node[] = [];
  const known = new Map<string, Node>();
  const samples: number[] = [];
  const timeDeltas: number[] = [];
  for (const profile of profiles) {
    const ids = addNodes(profile, nodes, known);
    for (const id of profile.samples ?? []) samples.push(ids.get(id) ?? 0);
    for (const delta of profile.timeDeltas ?? []) timeDeltas.push(delta);
  }
  const startTime = profiles[0]?.startTime ?? 0;
  const endTime = timeDeltas.reduce((sum, delta) => sum + delta, startTime);
  return { nodes, samples, timeDeltas, startTime, endTime };
}

/** Adds the nodes of a profile, and returns their new ids by the old ones. */
function addNodes(profile: Profiler.Profile, nodes: Node[], known: Map<string, Node>): Map<number, number> {
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const ids = new Map<number, number>();
  const add = (node: Node | undefined, parent: Node | undefined) => {
    if (node === undefined) return;
    const { functionName, scriptId, lineNumber, columnNumber } = node.callFrame;
    const key = `${parent?.id} ${functionName} ${scriptId} ${lineNumber} ${columnNumber}`;
    let own = known.get(key);
    if (own === undefined) {
      own = { id: nodes.length + 1, callFrame: node.callFrame, hitCount: 0, children: [] };
      known.set(key, own);
      nodes.push(own);
      parent?.children?.push(own.id);
    }
    own.hitCount = (own.hitCount ?? 0) + (node.hitCount ?? 0);
    ids.set(node.id, own.id);
    for (const child of node.children ?? []) add(byId.get(child), own);
  };
  add(profile.nodes[0], undefined);
  return ids;
}

/**
 * Replaces compiled functions in a profile by those of the sources, with the source maps of the compiled modules. A
 * module is named by its path below the project, such as `/src/uuid.ts`.
 */
export function withSources(profile: Profiler.Profile): Profiler.Profile {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (url: string) => {
    if (!maps.has(url)) maps.set(url, readMap(url));
    return maps.get(url);
  };
  const nodes = profile.nodes.map((node) => {
    const frame = writtenFrame(node.callFrame, mapOf);
    const url = frame.url.startsWith(PROJECT) ? frame.url.slice(PROJECT.length - 1) : frame.url;
    return { ...node, callFrame: { ...frame, url } };
  });
  return { ...profile, nodes };
}

function readMap(url: string): SourceMap | undefined {
  const file = `${fileURLToPath(url)}.map`;
  return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, "utf8"))) : undefined;
}

/** The bundle's map leads to a compiled module, and that module's map to the source. */
function writtenFrame(frame: Frame, mapOf: (url: string) => SourceMap | undefined): Frame {
  const map = frame.url.startsWith(COMPILED) ? mapOf(frame.url) : undefined;
  const place = map?.findEntry(frame.lineNumber, frame.columnNumber);
  if (place === undefined || !("originalSource" in place)) return frame;
  const written = {
    ...frame,
    url: new URL(place.originalSource, frame.url).href,
    lineNumber: place.originalLine,
    columnNumber: place.originalColumn,
  };
  return writtenFrame(written, mapOf);
}

/**
 * Returns the share of each stage. Each sample counts the same, whatever the time between two samples is, because that
 * time includes the work of other programs.
 */
export function stageShares({ nodes, samples = [] }: Profiler.Profile): StageShares {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const taken = new Map<number, number>();
  for (const id of samples) taken.set(id, (taken.get(id) ?? 0) + 1);
  const counts = new Map<string, number>();
  const visit = (node: Node | undefined, inherited: string | undefined) => {
    if (node === undefined) return;
    const stage = stageOf(node.callFrame, inherited);
    counts.set(stage, (counts.get(stage) ?? 0) + (taken.get(node.id) ?? 0));
    for (const child of node.children ?? []) visit(byId.get(child), stage);
  };
  visit(nodes[0], undefined);
  counts.delete("idle");
  const busy = Array.from(counts.values()).reduce((sum, count) => sum + count, 0);
  const shares = Array.from(counts, ([stage, count]) => [stage, count / busy] as const)
    .filter(([, share]) => share > 0)
    .toSorted(([, one], [, other]) => other - one);
  return { shares, samples: busy };
}

/**
 * Returns the stage of a function: that of its file, else `inherited`, the stage of its caller. Without either, it is
 * `socket` for Node's socket modules, else the event loop, which runs timers, promises and native code.
 */
function stageOf(
  { url, functionName }: { readonly url: string; readonly functionName: string },
  inherited: string = EVENT_LOOP,
): string {
  const own = STAGES.find(([, files]) => files.test(url)) ?? FUNCTIONS.find(([, names]) => names.test(functionName));
  if (own !== undefined) return own[0];
  return inherited === EVENT_LOOP && SOCKETS.test(url) ? "socket" : inherited;
}
