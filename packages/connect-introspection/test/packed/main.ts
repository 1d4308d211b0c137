/**
 * Publishes a service, and asks for its health and its definitions as a client without protos does: by `buf curl`,
 * which must be in the PATH. The test of the packed packages runs this where only the tarballs are installed.
 */
import { execFile } from "node:child_process";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { introspection } from "@cupo/connect-introspection";
import { LibraryService } from "../gen/library/v1/library_service_pb.js";

const run = promisify(execFile);
const server = createServer(
  connectNodeAdapter({
    routes(router) {
      router.service(LibraryService, { getBook: ({ title }) => ({ title }) });
      introspection()(router);
    },
  }),
);
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

console.log(await curl("--list-methods", origin));
console.log(await curl("-d", '{"service":"library.v1.LibraryService"}', `${origin}/grpc.health.v1.Health/Check`));
console.log(await curl("-d", '{"title":"La vorágine"}', `${origin}/library.v1.LibraryService/GetBook`));
process.exit();

async function curl(...args: readonly string[]): Promise<string> {
  const { stdout } = await run("buf", ["curl", "--protocol", "grpc", "--http2-prior-knowledge", ...args]);
  return stdout.trim();
}
