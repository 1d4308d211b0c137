/** As much of curl as the commands of README use, for machines that have none: -X, -H, -d and, in one word, -s and -i. */
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
  },
});
const headers = values.header.map((header) => header.split(/: (.*)/s).slice(0, 2));
const method = values.request ?? (values.data === undefined ? "GET" : "POST");
const response = await fetch(url, { method, headers, body: values.data });
if (values.include) {
  console.log(`HTTP/1.1 ${response.status} ${response.statusText}\r`);
  for (const [name, value] of response.headers) console.log(`${name}: ${value}\r`);
  console.log("\r");
}
process.stdout.write(await response.text());
