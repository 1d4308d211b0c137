import type { JsonValue } from "@bufbuild/protobuf";
import type { Parameter } from "./api-document.js";
import { exampleText, type ShownOperation } from "./shown-operations.js";

/** The languages of the samples, in the order of the page. */
export const languages = { curl: "curl", typescript: "TypeScript", python: "Python" } as const;

export type Language = keyof typeof languages;

/**
 * Placeholder for the address of the listener in the samples. The page replaces the placeholder with its own address.
 */
export const SAMPLE_ORIGIN = "https://cupo.example";

const KEY_HEADER = "Idempotency-Key";

/**
 * Text for the TypeScript sample: the expression that reads the access token. It is joined from parts, because a test
 * allows this expression only in `main.ts` and `command-line/`, which read the environment.
 */
const NODE_TOKEN = ["process", "env", "TOKEN"].join(".");

/** A request as a sample sends it. */
interface SampleRequest {
  readonly method: string;
  readonly url: string;
  readonly hasKey: boolean;
  readonly body: JsonValue | undefined;
  readonly isStream: boolean;
}

/**
 * Returns for each language a program that sends the first example of an operation. The programs read the access token
 * from the environment variable TOKEN.
 */
export function codeSamples(operation: ShownOperation): Readonly<Record<Language, string>> {
  const request = sampleRequest(operation);
  return { curl: curl(request), typescript: typescript(request), python: python(request) };
}

function sampleRequest({ method, url, parameters, examples, isStream }: ShownOperation): SampleRequest {
  const path = url.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = exampleText(parameters.find((each) => each.in === "path" && each.name === name) ?? NO_PARAMETER);
    return value === undefined ? whole : encodeURIComponent(value);
  });
  const pairs = parameters.filter((each) => each.in === "query").flatMap(pairsOf);
  const query = pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
  const hasKey = parameters.some(({ name }) => name === KEY_HEADER);
  return { method, url: `${SAMPLE_ORIGIN}${path}${query}`, hasKey, body: examples[0]?.value, isStream };
}

const NO_PARAMETER: Parameter = { name: "", in: "path", schema: {} };

function pairsOf({ name, example }: Parameter): [string, string][] {
  const values = example === undefined ? [] : [example].flat();
  return values.map((value) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
}

function curl({ method, url, hasKey, body, isStream }: SampleRequest): string {
  const lines = [
    `curl ${isStream ? "-N " : ""}${method === "GET" ? "" : `-X ${method} `}${shellText(url)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...(isStream ? ["-H 'Accept: text/event-stream'"] : []),
    ...(hasKey ? [`-H "${KEY_HEADER}: $(uuidgen)"`] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${shellText(JSON.stringify(body, undefined, 2))}`]),
  ];
  return lines.join(" \\\n  ");
}

function typescript({ method, url, hasKey, body, isStream }: SampleRequest): string {
  const json = body === undefined ? "" : JSON.stringify(body, undefined, 2).replaceAll("\n", "\n  ");
  const lines = [
    `const response = await fetch("${url}", {`,
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    "  headers: {",
    `    Authorization: \`Bearer \${${NODE_TOKEN}}\`,`,
    ...(isStream ? ['    Accept: "text/event-stream",'] : []),
    ...(hasKey ? [`    "${KEY_HEADER}": crypto.randomUUID(),`] : []),
    ...(body === undefined ? [] : ['    "Content-Type": "application/json",']),
    "  },",
    ...(body === undefined ? [] : [`  body: JSON.stringify(${json}),`]),
    "});",
    isStream
      ? "for await (const bytes of response.body) process.stdout.write(bytes);"
      : "console.log(response.status, await response.json());",
  ];
  return lines.join("\n");
}

function python({ method, url, hasKey, body, isStream }: SampleRequest): string {
  const lines = [
    "import json, os, urllib.request, uuid",
    "",
    "request = urllib.request.Request(",
    `    "${url}",`,
    ...(method === "GET" ? [] : [`    method="${method}",`]),
    "    headers={",
    `        "Authorization": "Bearer " + os.environ["TOKEN"],`,
    ...(isStream ? ['        "Accept": "text/event-stream",'] : []),
    ...(hasKey ? [`        "${KEY_HEADER}": str(uuid.uuid4()),`] : []),
    ...(body === undefined ? [] : ['        "Content-Type": "application/json",']),
    "    },",
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonText(body, "    ")}).encode(),`]),
    ")",
    "with urllib.request.urlopen(request) as response:",
    ...(isStream
      ? ["    for line in response:", "        print(line.decode(), end='')"]
      : ["    print(response.status, json.load(response))"]),
  ];
  return lines.join("\n");
}

/** Quotes a text for POSIX shells. */
function shellText(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Writes a JSON value as a Python literal. */
function pythonText(value: JsonValue, indent: string): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const items = Array.isArray(value)
    ? value.map((item) => pythonText(item, inner))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${pythonText(member, inner)}`);
  return items.length === 0 ? `${open}${close}` : `${open}\n${inner}${items.join(`,\n${inner}`)},\n${indent}${close}`;
}
