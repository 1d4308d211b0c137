/**
 * A server that the benchmark measures, in a process of its own: `contestants.js NAME`. It prints its port. Every server
 * creates the same book: it reads and checks the JSON, calls the implementation and writes the answer.
 */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { create, createFileRegistry, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createRestHandler, type RestService, restService } from "@cupo/connect-rest";
import { nodeListener } from "@cupo/connect-rest/node";
import Fastify from "fastify";
import { BookSchema, LibraryService } from "../test/gen/library/v1/library_pb.js";

/** The paths that the same book is sent to, by contestant. */
export const PATHS = {
  "connect-rest": "/v1/shelves/a/books",
  "connect-rest, 4,000 routes": "/v1/shelves/a/books",
  "connect-node, JSON": "/library.v1.LibraryService/CreateBook",
  fastify: "/v1/shelves/a/books",
} as const;

/** A server to measure. */
export type Contestant = keyof typeof PATHS;

const ROUTES = 4_000;

const implementation: Partial<ServiceImpl<typeof LibraryService>> = {
  createBook({ shelf, book = create(BookSchema) }) {
    book.name = `shelves/${shelf}/books/1`;
    return book;
  },
};
const library = restService(LibraryService, implementation);

const servers: Readonly<Record<Contestant, () => Promise<RequestListener>>> = {
  "connect-rest": async () => listenerOf([library]),
  "connect-rest, 4,000 routes": async () => listenerOf([library, manyRoutes(ROUTES)]),
  "connect-node, JSON": async () =>
    connectNodeAdapter({ routes: (router) => router.service(LibraryService, implementation) }),
  fastify: fastifyListener,
};

const [, program, name] = process.argv;
if (program?.endsWith("contestants.js") && name !== undefined && name in servers) {
  const listener = await servers[name as Contestant]();
  const server = createServer(listener).listen(0, "127.0.0.1", () => {
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  });
}

function listenerOf(services: readonly RestService[]): RequestListener {
  const listen = nodeListener(createRestHandler({ services, defaultBindings: true }));
  return (request, response) => void listen(request, response);
}

/** Returns a service with `count` methods, each with the default binding to a path of its own. */
function manyRoutes(count: number): RestService {
  const empty = ".google.protobuf.Empty";
  const file = create(FileDescriptorProtoSchema, {
    name: "many.proto",
    package: "many.v1",
    syntax: "proto3",
    dependency: ["google/protobuf/empty.proto"],
    service: [
      {
        name: "ManyService",
        method: Array.from({ length: count }, (_, at) => ({ name: `M${at}`, inputType: empty, outputType: empty })),
      },
    ],
  });
  const emptyFile = LibraryService.file.dependencies.find(({ name: path }) => path === "google/protobuf/empty");
  if (emptyFile === undefined) throw new Error("the test service does not import google/protobuf/empty.proto");
  const service = createFileRegistry(file, () => emptyFile).getService("many.v1.ManyService");
  if (service === undefined) throw new Error("the service was not built");
  return { service, implementation: implementationOf(service) };
}

function implementationOf({ methods }: DescService): object {
  return Object.fromEntries(methods.map(({ localName }: DescMethod) => [localName, () => ({})]));
}

async function fastifyListener(): Promise<RequestListener> {
  const text = { type: "string" };
  const author = {
    type: "object",
    additionalProperties: false,
    properties: { fullName: text, addresses: { type: "array", items: { type: "object", properties: { city: text } } } },
  };
  const properties = {
    name: text,
    title: text,
    genre: { type: "string", enum: ["GENRE_UNSPECIFIED", "NOVEL", "ESSAY"] },
    tags: { type: "array", items: text },
    author,
    pages: { type: "integer", minimum: -2147483648, maximum: 2147483647 },
    publishedAt: { type: "string", format: "date-time" },
  };
  const schema = { type: "object", additionalProperties: false, properties };
  const app = Fastify();
  app.post<{ Params: { shelf: string }; Body: Record<string, unknown> }>(
    "/v1/shelves/:shelf/books",
    { schema: { body: schema, response: { 200: schema } } },
    async ({ params, body }) => ({ ...body, name: `shelves/${params.shelf}/books/1` }),
  );
  await app.ready();
  return app.routing;
}
