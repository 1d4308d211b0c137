import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  createFileRegistry,
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Registry,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** All definitions of the protos, with the comments that generated code does not have. */
export interface DescribedContract {
  readonly registry: Registry;
  readonly messages: readonly DescMessage[];
  readonly enums: readonly DescEnum[];
  readonly methods: readonly DescMethod[];
  /** Returns the comment above a definition on one line; empty if there is none. */
  commentOf(desc: DescField | DescEnum): string;
}

/** Compiles Cupo's protos. */
export async function describeContract(): Promise<DescribedContract> {
  const folder = await temporaryFolder();
  try {
    const image = join(folder, "image.binpb");
    await promisify(execFile)(join(root, "node_modules/.bin/buf"), ["build", "-o", image], { cwd: root });
    return describe(createFileRegistry(fromBinary(FileDescriptorSetSchema, await readFile(image))));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function describe(registry: ReturnType<typeof createFileRegistry>): DescribedContract {
  const files = [...registry.files].filter(({ proto }) => proto.package.startsWith("cupo."));
  const messages = files.flatMap((file) => file.messages.flatMap(withNested));
  return {
    registry,
    messages,
    enums: [...files.flatMap((file) => file.enums), ...messages.flatMap((message) => message.nestedEnums)],
    methods: files.flatMap((file) => file.services.flatMap((service) => service.methods)),
    commentOf: (desc) => commentAt(fileOf(desc), pathOf(desc)),
  };
}

function withNested(message: DescMessage): DescMessage[] {
  return [message, ...message.nestedMessages.flatMap(withNested)];
}

function fileOf(desc: DescField | DescEnum): DescFile {
  return desc.kind === "field" ? desc.parent.file : desc.file;
}

/** Returns the path of a definition in its file (google.protobuf.SourceCodeInfo.Location.path). */
function pathOf(desc: DescField | DescEnum | DescMessage): number[] {
  if (desc.kind === "field") return [...pathOf(desc.parent), 2, desc.parent.proto.field.indexOf(desc.proto)];
  const { parent, file } = desc;
  if (desc.kind === "message") {
    if (parent === undefined) return [4, file.proto.messageType.indexOf(desc.proto)];
    return [...pathOf(parent), 3, parent.proto.nestedType.indexOf(desc.proto)];
  }
  if (parent === undefined) return [5, file.proto.enumType.indexOf(desc.proto)];
  return [...pathOf(parent), 4, parent.proto.enumType.indexOf(desc.proto)];
}

function commentAt({ proto }: DescFile, path: readonly number[]): string {
  const wanted = path.join();
  const location = proto.sourceCodeInfo?.location.find((each) => each.path.join() === wanted);
  return (location?.leadingComments ?? "").replace(/\s+/g, " ").trim();
}
