import type { RequestListener } from "node:http";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { RestError } from "@cupo/connect-rest";
import { defaultLimits } from "../../../src/http/limits.js";
import { type Listener, listen } from "../../../src/http/listen.js";
import type { Answerer } from "../../../src/http/protocol-server.js";
import { problems } from "../../../src/interceptors/problems.js";
import { callFor, valuesOf } from "../../../src/open-call.js";
import { createRpcHandler } from "../../../src/rpc/handler.js";
import { ScriptService } from "../../gen/script/v1/script_pb.js";
import { renderSocketError, testTls } from "../../http/start-listener.js";
import { scriptedMethods } from "./script-service.js";

/** Greatest length of a message that both servers accept. */
export const maxBytes = 4_096;
/** Longest time limit that both servers know. */
export const maxTimeLimitMs = 60_000;

/** The servers that the table is sent to. Both serve the same implementation. */
export const servers = { "src/rpc": ourHandler, "connect-node": libraryHandler } satisfies Record<
  string,
  () => Answerer["handler"]
>;

/** Listens with a handler, in cleartext and with TLS. */
export async function startServer(handler: Answerer["handler"]): Promise<readonly [Listener, Listener]> {
  const start = (tls: { readonly tls?: typeof testTls }) =>
    listen({
      host: "127.0.0.1",
      port: 0,
      answerAt: () => ({ handler, socketError: renderSocketError }),
      limits: defaultLimits,
      ...tls,
    });
  return [await start({}), await start({ tls: testTls })];
}

/** Our handler, with the codes that the internal listener gives to errors. */
function ourHandler(): Answerer["handler"] {
  const answer = createRpcHandler({
    services: [{ service: ScriptService, implementation: scriptedMethods }],
    translateErrors: problems("https://cupo.test/problems", () => undefined),
    headerInterceptors: () => [],
    interceptors: () => [],
    openValues: (request) => valuesOf(callFor(request)),
    validate: () => () => [],
    refuse: () => (violations) => new RestError("INVALID", "The message is invalid.", { violations }),
    maxItems: () => 100,
    maxBodyBytes: maxBytes,
    maxDepth: 16,
    maxTimeLimitMs,
    maxStreamMs: maxTimeLimitMs,
  });
  return (request, response) => void answer(request, response);
}

function libraryHandler(): Answerer["handler"] {
  return connectNodeAdapter({
    routes: (router) => void router.service(ScriptService, scriptedMethods),
    readMaxBytes: maxBytes,
    maxTimeoutMs: maxTimeLimitMs,
  }) as RequestListener as Answerer["handler"];
}
