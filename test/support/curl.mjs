/**
 * A replacement for curl on machines without it. It supports what the commands in the documents need (-X, -H, -d, -s,
 * -i, -N, --max-time) and the options of examples/curl. It accepts --retry but never repeats a request.
 */
import { parseArgs } from "node:util";

const {
  values,
  positionals: [url = ""],
} = parseArgs({
  allowPositionals: true,
  options: {
    request: { type: "string", short: "X" },
    header: { type: "string", short: "H", multiple: true, default: [] },
    data: { type: "string", short: "d" },
    silent: { type: "boolean", short: "s" },
    include: { type: "boolean", short: "i" },
    "no-buffer": { type: "boolean", short: "N" },
    "show-error": { type: "boolean" },
    fail: { type: "boolean" },
    retry: { type: "string" },
    "retry-connrefused": { type: "boolean" },
    "max-time": { type: "string" },
  },
});
const headers = values.header.map((header) => header.split(/: (.*)/s).slice(0, 2));
const method = values.request ?? (values.data === undefined ? "GET" : "POST");
const maxTimeMs = values["max-time"] === undefined ? undefined : Number(values["max-time"]) * 1_000;
const signal = maxTimeMs === undefined ? null : AbortSignal.timeout(maxTimeMs);
const response = await fetch(url, { method, headers, body: values.data, signal });
if (values.include) {
  console.log(`HTTP/1.1 ${response.status} ${response.statusText}\r`);
  for (const [name, value] of response.headers) console.log(`${name}: ${value}\r`);
  console.log("\r");
}
if (values.fail && !response.ok) process.exit(22);
try {
  for await (const bytes of response.body ?? []) process.stdout.write(bytes);
} catch {
  process.exitCode = 28;
}
