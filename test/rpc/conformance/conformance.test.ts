import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Listener } from "../../../src/http/listen.js";
import { answerCases, timeLimitCases } from "./cases/answer-cases.js";
import { bodyCases, compressionCases, sizeCases } from "./cases/body-cases.js";
import { errorCases } from "./cases/error-cases.js";
import { getCases } from "./cases/get-cases.js";
import { requestCases } from "./cases/request-cases.js";
import { strictnessCases } from "./cases/strictness-cases.js";
import { expectAnswer } from "./compare.js";
import type { ConformanceCase, Expected } from "./conformance-case.js";
import { exchange } from "./exchange.js";
import { type Format, formats, isWithin, nameOf } from "./formats.js";
import { readAnswer } from "./read-answer.js";
import { maxBytes, servers, startServer } from "./servers.js";
import { writeRequest } from "./write-request.js";

const table: readonly ConformanceCase[] = [
  ...answerCases,
  ...timeLimitCases,
  ...errorCases,
  ...sizeCases,
  ...bodyCases,
  ...compressionCases,
  ...requestCases,
  ...getCases,
  ...strictnessCases,
];

describe.each(Object.entries(servers))("%s", (name, createHandler) => {
  let listeners: readonly Listener[];

  beforeAll(async () => {
    listeners = await startServer(createHandler());
  });

  afterAll(async () => {
    await Promise.all(listeners.map((listener) => listener.close(0)));
  });

  describe.each(formats.map((format) => [nameOf(format), format] as const))("%s", (_, ofGroup) => {
    for (const [title, method, call] of checksIn(ofGroup)) {
      const format = { ...ofGroup, codec: call.codec ?? ofGroup.codec };
      const expected = expectedOf(call, name);
      if (expected === undefined) continue;
      test(title, async () => {
        const listener = listeners[format.tls ? 1 : 0];
        const received = await exchange(listener?.url ?? "", writeRequest(call, method, format, maxBytes));
        expectAnswer(readAnswer(received, method, format), call, method, format, expected);
      });
    }
  });
});

function checksIn(format: Format) {
  return (format.tls ? answerCases : table)
    .filter(({ limits }) => isWithin(limits ?? {}, format))
    .flatMap((call) => call.methods.map((method) => [`${method}: ${call.name}`, method, call] as const));
}

function expectedOf({ expected, otherwise }: ConformanceCase, name: string): Expected | undefined {
  return name === "connect-node" && otherwise !== undefined ? otherwise.expected : expected;
}

test("docs/internals/rpc.md has a row for each difference, and for no other", () => {
  const page = readFileSync(new URL("../../../docs/internals/rpc.md", import.meta.url), "utf8");
  const rows = Array.from(page.matchAll(/^\| (rpc-[a-z-]+) \|/gm), ([, id]) => id);
  const differences = table.flatMap(({ otherwise }) => otherwise?.difference ?? []);
  expect(new Set(rows)).toEqual(new Set(["rpc-client-streaming", ...differences]));
});
