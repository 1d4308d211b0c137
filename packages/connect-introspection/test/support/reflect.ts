import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { ServerReflection, ServerReflectionAlpha } from "../../src/index.js";

export type Question = NonNullable<
  MessageInitShape<typeof ServerReflection.method.serverReflectionInfo.input>["messageRequest"]
>;

/** Both versions of the reflection service. */
export const versions = { v1: ServerReflection, v1alpha: ServerReflectionAlpha } as const;

export type Version = keyof typeof versions;

/** Returns the answers to questions in one stream. */
export async function answersTo(transport: Transport, questions: readonly Question[], version: Version = "v1") {
  const { serverReflectionInfo } = createClient(versions[version], transport);
  const asked = createAsyncIterable(questions.map((messageRequest) => ({ messageRequest })));
  const answers = [];
  for await (const { messageResponse } of serverReflectionInfo(asked as never)) answers.push(messageResponse);
  return answers;
}

/** Returns the names of the listed services. */
export async function servicesListed(transport: Transport, version: Version = "v1"): Promise<readonly string[]> {
  const [answer] = await answersTo(transport, [{ case: "listServices", value: "" }], version);
  return answer?.case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : [];
}

/** Returns the files of each answer in one stream. */
export async function filesFor(
  transport: Transport,
  questions: readonly Question[],
  version: Version = "v1",
): Promise<readonly FileDescriptorProto[][]> {
  const answers = await answersTo(transport, questions, version);
  return answers.map((answer) =>
    answer.case === "fileDescriptorResponse"
      ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
      : [],
  );
}
