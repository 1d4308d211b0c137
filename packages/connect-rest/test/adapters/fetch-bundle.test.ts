import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { rolldown } from "rolldown";
import { beforeAll, describe, expect, test } from "vitest";

/** The globals that the bundle may use besides ECMAScript: those of edge runtimes (WinterTC's minimum common API). */
const webPlatform = {
  AbortController,
  AbortSignal,
  atob,
  btoa,
  Headers,
  ReadableStream,
  Request,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
};

/** A service as an application has it, with the entry points that it imports. */
const application = `
  import { createRestHandler, restService } from ${path("../../src/index.ts")};
  import { fetchHandler } from ${path("../../src/fetch.ts")};
  import { LibraryService } from ${path("../gen/library/v1/library_pb.ts")};
  const getBook = ({ name }) => ({ name, title: "From the edge" });
  const echoKinds = (kinds) => kinds;
  const rest = createRestHandler({ services: [restService(LibraryService, { getBook, echoKinds })] });
  export const handle = fetchHandler(rest);
`;

describe("the entry point for Fetch", () => {
  let imports: readonly string[] = [];
  let code = "";

  beforeAll(async () => {
    const bundle = await rolldown({
      input: "application",
      platform: "neutral",
      treeshake: false,
      resolve: { conditionNames: ["source", "import"] },
      plugins: [
        {
          name: "application",
          resolveId: (id) => (id === "application" ? id : isBuiltin(id) ? { id, external: true } : null),
          load: (id) => (id === "application" ? application : null),
        },
      ],
    });
    const { output } = await bundle.generate({ format: "iife", name: "application" });
    imports = output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.imports : []));
    code = output[0].code;
  });

  test("imports nothing of Node.js, directly or through its peers", () => {
    expect(imports).toEqual([]);
    expect(code).toContain("fetchHandler");
  });

  test("serves where only the web platform exists", async () => {
    const context = createContext({ ...webPlatform });
    const handle = runInContext(`${code}; application.handle`, context) as (request: Request) => Promise<Response>;
    const found = await handle(new Request("http://x/v1/books/x"));
    expect([found.status, await found.json()]).toEqual([200, expect.objectContaining({ title: "From the edge" })]);
    const body = '{"data":"AQI=","real":1.5,"at":"2026-01-01T00:00:00.000Z","text":"é"}';
    const headers = { "content-type": "application/json" };
    const echoed = await handle(new Request("http://x/v1/kinds", { method: "POST", headers, body }));
    expect([echoed.status, await echoed.json()]).toEqual([200, expect.objectContaining(JSON.parse(body))]);
    const refused = await handle(new Request("http://x/v1/kinds", { method: "POST", headers, body: '{"data":"A"}' }));
    expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ status: 400 })]);
  });
});

function path(relative: string): string {
  return JSON.stringify(fileURLToPath(new URL(relative, import.meta.url)));
}
