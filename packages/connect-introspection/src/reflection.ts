import { createRegistry, type DescFile, type DescService, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";

/** A question: the common fields of the v1 and v1alpha messages. */
interface Question {
  readonly host: string;
  readonly messageRequest:
    | { readonly case: NamedBy; readonly value: string }
    | { readonly case: "fileContainingExtension"; readonly value: ExtensionName }
    | { readonly case: undefined; readonly value?: undefined };
}

type NamedBy = "fileByFilename" | "fileContainingSymbol" | "allExtensionNumbersOfType" | "listServices";

interface ExtensionName {
  readonly containingType: string;
  readonly extensionNumber: number;
}

type Answer =
  | { readonly case: "fileDescriptorResponse"; readonly value: { readonly fileDescriptorProto: Uint8Array[] } }
  | { readonly case: "allExtensionNumbersResponse"; readonly value: ExtensionNumbers }
  | { readonly case: "listServicesResponse"; readonly value: { readonly service: { readonly name: string }[] } }
  | { readonly case: "errorResponse"; readonly value: { readonly errorCode: number; readonly errorMessage: string } };

interface ExtensionNumbers {
  readonly baseTypeName: string;
  readonly extensionNumber: number[];
}

/** Answers the questions of a stream. Each answer contains its question. */
export type Reflect = <Q extends Question>(questions: AsyncIterable<Q>) => AsyncIterable<Reflected<Q>>;

interface Reflected<Q extends Question> {
  readonly validHost: string;
  readonly originalRequest: Q;
  readonly messageResponse: Answer;
}

/**
 * Implements server reflection (github.com/grpc/grpc/blob/master/doc/server-reflection.md), so that tools need no proto
 * files. An answer contains a file and all of its imports that the stream has not sent yet. Unknown names are answered
 * with not_found.
 */
export function createReflection(services: readonly DescService[]): Reflect {
  const files = withImports(services.map(({ file }) => file));
  const registry = createRegistry(...files);
  const filesByName = new Map(files.map((file) => [file.proto.name, file]));
  return async function* (questions) {
    const sent = new Set<DescFile>();
    const give = (file: DescFile | undefined): Answer => {
      if (file === undefined) return notFound;
      const fresh = withImports([file]).filter((each) => each === file || !sent.has(each));
      for (const each of fresh) sent.add(each);
      const fileDescriptorProto = fresh.map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
      return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
    };
    for await (const question of questions) {
      const { case: kind, value } = question.messageRequest;
      let answer: Answer = error(Code.InvalidArgument, "the request has no question");
      if (kind === "fileByFilename") answer = give(filesByName.get(value));
      if (kind === "fileContainingSymbol") answer = give(fileOf(registry, value));
      if (kind === "fileContainingExtension") answer = give(extensionFile(registry, value));
      if (kind === "allExtensionNumbersOfType") answer = extensionNumbers(registry, value);
      if (kind === "listServices") answer = listOf(services);
      yield { validHost: question.host, originalRequest: question, messageResponse: answer };
    }
  };
}

const notFound = error(Code.NotFound, "this server has no definition of this name");

function error(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

function listOf(services: readonly DescService[]): Answer {
  const names = services.map(({ typeName }) => typeName).toSorted();
  return { case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } };
}

/**
 * Returns the file that declares a name: a type, service or extension, or a method, field, oneof or enum value inside
 * one.
 */
function fileOf(registry: Registry, name: string): DescFile | undefined {
  const declared = registry.get(name);
  if (declared !== undefined) return declared.file;
  const [, parent = "", last = ""] = /^(.*)\.([^.]+)$/.exec(name) ?? [];
  const within = registry.get(parent);
  if (within === undefined) return undefined;
  return memberNames(within).includes(last) ? within.file : undefined;
}

function memberNames(within: NonNullable<ReturnType<Registry["get"]>>): readonly string[] {
  if (within.kind === "service") return within.methods.map(({ name }) => name);
  if (within.kind === "message") return [...within.fields, ...within.oneofs].map(({ name }) => name);
  return within.kind === "enum" ? within.values.map(({ name }) => name) : [];
}

function extensionFile(registry: Registry, { containingType, extensionNumber }: ExtensionName): DescFile | undefined {
  const extendee = registry.getMessage(containingType);
  return extendee && registry.getExtensionFor(extendee, extensionNumber)?.file;
}

function extensionNumbers(registry: Registry, baseTypeName: string): Answer {
  if (registry.getMessage(baseTypeName) === undefined) return notFound;
  const extensions = Array.from(registry).filter((each) => each.kind === "extension");
  const ofType = extensions.filter(({ extendee }) => extendee.typeName === baseTypeName);
  const extensionNumber = ofType.map(({ number }) => number).toSorted((a, b) => a - b);
  return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } };
}

/** Returns files and all their imports, at any depth. The set grows during the loop. */
function withImports(files: readonly DescFile[]): DescFile[] {
  const found = new Set(files);
  for (const { dependencies } of found) for (const each of dependencies) found.add(each);
  return [...found];
}
