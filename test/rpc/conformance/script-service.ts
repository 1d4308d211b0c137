import { setTimeout as delay } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import {
  type AnswerSchema,
  DetailSchema,
  type Failure,
  type Field,
  type Script,
  type ScriptService,
  SeenSchema,
  Wait,
} from "../../gen/script/v1/script_pb.js";

type Answer = MessageInitShape<typeof AnswerSchema>;
type Seen = MessageInitShape<typeof SeenSchema>;

/** Longer than any test: only an abort ends it. */
const HOUR_MS = 3_600_000;

/** The methods of script.v1.ScriptService that have an implementation. */
export const scriptedMethods: Partial<ServiceImpl<typeof ScriptService>> = {
  run: runOnce,
  read: runOnce,
  async *watch(script, context) {
    setMetadata(script, context);
    const seen = seenIn(script, context);
    yield* answersOf(script, seen);
    await wait(script.wait, context.signal);
    if (script.failure) throw errorOf(script.failure, script.answers.length === 0 ? seen : undefined);
  },
};

async function runOnce(script: Script, context: HandlerContext): Promise<Answer> {
  setMetadata(script, context);
  const seen = seenIn(script, context);
  await wait(script.wait, context.signal);
  if (script.failure) throw errorOf(script.failure, seen);
  return answersOf(script, seen)[0] ?? { seen };
}

function setMetadata({ headers, trailers }: Script, { responseHeader, responseTrailer }: HandlerContext): void {
  append(responseHeader, headers);
  append(responseTrailer, trailers);
}

function append(to: Headers, fields: readonly Field[]): void {
  for (const { name, values } of fields) for (const value of values) to.append(name, value);
}

function seenIn(script: Script, { requestHeader, timeoutMs }: HandlerContext): Seen {
  const remainingMs = timeoutMs();
  return {
    headers: [...requestHeader]
      .filter(([name]) => name.startsWith("x-"))
      .map(([name, value]) => ({ name, values: [value] })),
    ...(remainingMs === undefined ? {} : { remainingMs }),
    script: { ...script, requestPadding: new Uint8Array() },
  };
}

function answersOf({ answers }: Script, seen: Seen): Answer[] {
  return answers.map((data, index) => (index === 0 ? { data, seen } : { data }));
}

async function wait(how: Wait, signal: AbortSignal): Promise<void> {
  if (how === Wait.UNSPECIFIED) return;
  if (how === Wait.FOR_EVER) return new Promise(() => undefined);
  try {
    await delay(HOUR_MS, undefined, { signal });
  } catch (error) {
    throw how === Wait.THROWS_REASON ? signal.reason : error;
  }
}

function errorOf({ code, message, metadata, details }: Failure, seen: Seen | undefined): Error {
  if (code === 0) return new Error(message);
  const headers = new Headers();
  append(headers, metadata);
  return new ConnectError(message, code, headers, [
    ...(seen === undefined ? [] : [{ desc: SeenSchema, value: seen }]),
    ...details.map((text) => ({ desc: DetailSchema, value: { text } })),
  ]);
}
