import { createRegistry } from "@bufbuild/protobuf";
import {
  AnySchema,
  DurationSchema,
  EmptySchema,
  Int32ValueSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { restService } from "../../src/routes/rest-service.js";
import { BookSchema, KindsSchema } from "../gen/library/v1/library_pb.js";
import { EnvelopeSchema, MediaService } from "../gen/library/v1/media_pb.js";

const implementation: Partial<ServiceImpl<typeof MediaService>> = {
  upload: ({ name, draft, file }) => ({
    name,
    draft,
    contentType: file?.contentType ?? "none",
    size: BigInt(file?.data.length ?? -1),
  }),
  echoRaw: (request) => request,
  download: ({ name }) =>
    name === "nothing"
      ? { name }
      : { name, file: { contentType: "text/plain", data: Buffer.from(`the file ${name}`) } },
  async *play({ name }) {
    yield { contentType: "audio/ogg", data: Buffer.from("first,") };
    yield { data: Buffer.from(name) };
    if (name === "broken") throw new ConnectError("the disc has a scratch", Code.DataLoss);
  },
  async *watchBooks({ titles, failAfter, after }, context) {
    context.responseHeader.set("x-shelf", "7");
    for (const [index, title] of titles.slice(after === "" ? 0 : titles.indexOf(after) + 1).entries()) {
      if (index === failAfter) throw new ConnectError("no more", Code.NotFound);
      yield { title };
    }
    if (failAfter === titles.length) throw new ConnectError("no more", Code.NotFound);
  },
  echoEnvelope: (request) => request,
  bare: ({ name }) => ({ name }),
  async *bareStream({ titles }) {
    for (const title of titles) yield { title };
  },
};

/** A service that returns its requests, and streams the requested titles. */
export const mediaService = restService(MediaService, implementation);

/** The types that an Any may contain in tests. */
export const registry = createRegistry(
  AnySchema,
  BookSchema,
  DurationSchema,
  EmptySchema,
  EnvelopeSchema,
  Int32ValueSchema,
  KindsSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
);

/** Options of a handler for the service. */
export const mediaOptions = { services: [mediaService], registry };
