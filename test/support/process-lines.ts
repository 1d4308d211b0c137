import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

/** A log line in text format. */
const LOGGED = /^\[\d\d:\d\d:\d\d\] /;

/**
 * Returns the first lines that a process prints and that `isWanted` accepts, by default those that are not log lines in
 * text format. Rejects if the process ends before.
 */
export async function firstLines(
  { stdout, stderr }: ChildProcess,
  count: number,
  isWanted = (line: string) => !LOGGED.test(line),
): Promise<string[]> {
  if (stdout === null || stderr === null) throw new Error("the process has no output");
  const complaints: unknown[] = [];
  stderr.on("data", (data) => complaints.push(data));
  const lines: string[] = [];
  for await (const line of createInterface(stdout)) {
    if (isWanted(line) && lines.push(line) === count) break;
  }
  if (lines.length < count) throw new Error(complaints.join(""));
  stdout.resume();
  return lines;
}

/** Returns the next line with a text; undefined if the process ends before. */
export async function lineWith({ stdout }: ChildProcess, text: string): Promise<string | undefined> {
  if (stdout === null) throw new Error("the process has no output");
  for await (const line of createInterface(stdout)) if (line.includes(text)) return line;
  return undefined;
}

/** Sends the request of a curl command. */
export function followed(line: string): Promise<Response> {
  const [, method = "", url = ""] = /^curl -i -X (\w+) (\S+) /.exec(line) ?? [];
  const [, body = ""] = / -d '([^']*)'$/.exec(line) ?? [];
  const headers = new Headers();
  for (const [, name = "", value = ""] of line.matchAll(/ -H (?:'|")([^:'"]+): ([^'"]*)(?:'|")/g))
    headers.set(name, value);
  return fetch(url, { method, headers, body });
}
