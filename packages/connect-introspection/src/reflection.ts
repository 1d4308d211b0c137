import type { DescFile, DescService } from "@bufbuild/protobuf";
import { Code, type HandlerContext } from "@connectrpc/connect";
import { type Definitions, indexDefinitions } from "./definitions.js";
import { once } from "./once.js";
import type { OpenStream } from "./open-streams.js";
import { untilAborted } from "./until-aborted.js";

/** A request of a reflection stream: the fields that the messages of v1 and v1alpha share. */
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

/** Answers the requests of a reflection stream in their order. Each answer contains a copy of its request. */
export type Reflect = <Q extends Question>(
  questions: AsyncIterable<Q>,
  context: Pick<HandlerContext, "signal">,
) => AsyncIterable<Reflected<Q>>;

interface Reflected<Q extends Question> {
  readonly validHost: string;
  readonly originalRequest: Q;
  readonly messageResponse: Answer;
}

export interface ReflectionOptions {
  /** Returns the services to publish. Called only when the first stream begins. */
  readonly services: () => readonly DescService[];
  readonly openStream: OpenStream;
}

/**
 * Implements server reflection (github.com/grpc/grpc/blob/master/doc/server-reflection.md), so that tools need no proto
 * files.
 * - The answer to a request for definitions contains the requested file and all its imports, except imports that were
 *   already sent on the stream.
 * - The answer to an unknown name is an error response with the code not_found. The stream continues.
 */
export function createReflection({ services, openStream }: ReflectionOptions): Reflect {
  const published = once(() => ({ definitions: indexDefinitions(services()), list: listOf(services()) }));
  return async function* (questions, context) {
    const signal = openStream(context.signal);
    const { definitions, list } = published();
    const sent = new Set<DescFile>();
    for await (const question of untilAborted(questions, signal)) {
      const messageResponse = answerTo(question.messageRequest, definitions, list, sent);
      yield { validHost: question.host, originalRequest: question, messageResponse };
    }
  };
}

function answerTo(
  question: Question["messageRequest"],
  definitions: Definitions,
  list: Answer,
  sent: Set<DescFile>,
): Answer {
  const { files, symbols, extensions } = definitions;
  switch (question.case) {
    case "fileByFilename":
      return fileAnswer(definitions, files.get(question.value), sent);
    case "fileContainingSymbol":
      return fileAnswer(definitions, symbols.get(question.value), sent);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      return fileAnswer(definitions, extensions.get(containingType)?.get(extensionNumber), sent);
    }
    case "allExtensionNumbersOfType":
      return extensionNumbers(question.value, extensions.get(question.value));
    case "listServices":
      return list;
    case undefined:
  }
  return error(Code.InvalidArgument, "the request has no question");
}

function fileAnswer({ withImports, bytesOf }: Definitions, file: DescFile | undefined, sent: Set<DescFile>): Answer {
  if (file === undefined) return notFound;
  const fresh = withImports(file).filter((each) => each === file || !sent.has(each));
  for (const each of fresh) sent.add(each);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: fresh.map(bytesOf) } };
}

const notFound = error(Code.NotFound, "this server has no definition of this name");

function error(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

function listOf(services: readonly DescService[]): Answer {
  const names = services.map(({ typeName }) => typeName).toSorted();
  return { case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } };
}

function extensionNumbers(baseTypeName: string, extensions: ReadonlyMap<number, DescFile> | undefined): Answer {
  if (extensions === undefined) return notFound;
  const extensionNumber = [...extensions.keys()].toSorted((a, b) => a - b);
  return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } };
}
