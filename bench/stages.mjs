/** Stages of a request by the files of their functions, as sources or as they are compiled. */
const STAGES = [
  ["idle", /\/bench\/profile-on-demand\.mjs$/],
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
  ["places", /\/interceptors\/(calls-at-work|places\/\w[\w-]*)\.[jt]s/],
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

/** Frames that are of no stage, whoever called them; `dispatch` is the profiler's own. */
const OTHERS = [
  ["collection of garbage", /^\(garbage collector\)$/],
  ["idle", /^\(idle\)$/],
  ["idle", /^dispatch$/],
];

/** Node's own modules that work on sockets, where none of ours has called them. */
const SOCKETS = /^node:(_http|http2|net|tls|events|internal\/(http2|stream|net))/;

const EVENT_LOOP = "event loop";

/** The names of all stages. */
export const stageNames = [...new Set([...STAGES, ...OTHERS].map(([name]) => name)), EVENT_LOOP];

/**
 * The stage of a function: that of its own file, or else `inherited`, the innermost stage of its callers. Where none has one, it is
 * of Node's work on sockets, or of the event loop, which runs timers, promises and what is not JavaScript.
 *
 * @param {{ url: string, functionName: string }} frame
 * @param {string} [inherited]
 */
export function stageOf({ url, functionName }, inherited = EVENT_LOOP) {
  const own = STAGES.find(([, files]) => files.test(url)) ?? OTHERS.find(([, name]) => name.test(functionName));
  if (own !== undefined) return own[0];
  return inherited === EVENT_LOOP && SOCKETS.test(url) ? "socket" : inherited;
}
