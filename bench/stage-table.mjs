/**
 * Stages of a request by the files of their functions: the time of a function that no stage names is that of the innermost caller
 * that one does, and where there is none, of Node's own work on sockets.
 */
const STAGES = [
  ["socket", /\/http\//],
  ["call opened, log line", /\/(request-log|interceptors\/open-call)\.js|\/pino\//],
  ["metrics", /\/telemetry\/|\/@opentelemetry\//],
  [
    "route",
    /\/rest\/(routes\/|request-target)|\/rpc\/handler\.js|\/(public|internal)-api\.js|\/problem-pages\.js|\/openapi\/|\/reference-page\//,
  ],
  ["token", /\/auth\/|\/interceptors\/(authentication|authorization)\.js/],
  ["quota", /\/quotas\/|\/rate-limiter-flexible\/|\/interceptors\/rate-limit\.js/],
  ["headers of the request", /\/interceptors\/(request-headers|actor)\.js|\/rest\/(media-type|web-headers)\.js/],
  [
    "body",
    /\/rest\/(read-body|read-json-body|gone-signal)\.js|\/rpc\/(read-message-bytes|compression|time-limit)\.js|\/json\/read-json\.js/,
  ],
  ["message", /\/rest\/(bind-request|read-path|json\/read)|\/rest\/json\/message-fields|\/rpc\/(message-|check-)/],
  ["validation", /\/interceptors\/(validation\/|loop-turns)|\/protovalidate\/|\/cel\//],
  ["places", /\/interceptors\/(calls-at-work|places\/\w[\w-]*)\.js/],
  ["idempotency", /\/interceptors\/idempotency\.js/],
  ["statements", /\/postgres\//],
  ["service", /\/services\/|\/uuid\.js/],
  ["redaction", /\/interceptors\/redaction\.js/],
  [
    "answer",
    /\/rest\/(send-response|render|json\/write|handler)|\/interceptors\/(response-headers|answering-calls)\.js|\/rpc\/connect-method\.js/,
  ],
  ["calls through the chain", /\/rest\/(invoke|endpoint)\.js|\/@connectrpc\/|\/interceptors\//],
];

/** Frames that are of no stage, whoever called them; `dispatch` is the profiler's own. */
const OTHERS = [
  ["collection of garbage", /^\(garbage collector\)$/],
  ["idle", /^\(idle\)$/],
  ["idle", /^dispatch$/],
];

/**
 * A table in Markdown of what each stage of a request takes, from a CPU profile of a process that answered requests at
 * `usOfARequest` of processor time each.
 */
export function stageTable({ nodes, samples, timeDeltas }, usOfARequest) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stages = new Map();
  const visit = (node, inherited) => {
    const stage = stageOf(node.callFrame, inherited);
    stages.set(node.id, stage);
    for (const child of node.children ?? []) visit(byId.get(child), stage);
  };
  visit(nodes[0], undefined);
  const times = new Map();
  for (const [index, id] of samples.entries()) {
    const stage = stages.get(id);
    times.set(stage, (times.get(stage) ?? 0) + timeDeltas[index]);
  }
  times.delete("idle");
  const busy = [...times.values()].reduce((sum, time) => sum + time, 0);
  const rows = [...times]
    .toSorted(([, a], [, b]) => b - a)
    .map(([stage, time]) => {
      const share = time / busy;
      return `| ${stage} | ${(share * usOfARequest).toFixed(1)} | ${(share * 100).toFixed(1)} % |`;
    });
  return ["| stage | µs a request | share |", "| --- | --- | --- |", ...rows].join("\n");
}

function stageOf({ url, functionName }, inherited) {
  const own = STAGES.find(([, files]) => files.test(url));
  if (own !== undefined) return own[0];
  const special = OTHERS.find(([, name]) => name.test(functionName));
  return special?.[0] ?? inherited ?? "socket";
}
