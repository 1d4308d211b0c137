import {
  clearField,
  type DescField,
  type DescMessage,
  type DescMethod,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { fieldsOf, heldValue, setField } from "../json/message-fields.js";
import { headerValues } from "../raw-headers.js";
import { malformed } from "../rest-error.js";

/**
 * The proto names of the fields with the ids of server-sent events. A client sends the id of its last event to continue
 * the stream after that event.
 */
export interface EventIds {
  /** The string field of the response that is the `id` of its event. If it is empty, the event has no id. */
  readonly responseField: string;
  /**
   * The string field of the request that gets the value of the Last-Event-ID header. If the header is absent or empty,
   * the field keeps the value that the caller sent.
   */
  readonly requestField: string;
  /**
   * Fields of the request that are cleared if Last-Event-ID is sent and not empty. An example is a field that says at
   * which event the first stream begins. Defaults to none.
   */
  readonly removedFields?: readonly string[];
  /**
   * The `retry` of the stream: after a stream has ended or its connection is lost, the client waits this many
   * milliseconds before its next call. It is sent with the first message. Defaults to the client's own value.
   */
  readonly retryMs?: number;
}

export interface EventIdOptions {
  /**
   * Returns the fields with the event ids of a server-streaming method, or undefined for no event ids. Runs once per
   * route, when the handler is created. The request header Last-Event-ID is read for every format of the answer, not
   * only for server-sent events. Defaults to no event ids.
   */
  eventIds?(method: DescMethod): EventIds | undefined;
}

/** The compiled {@link EventIds} of a method. */
export interface CompiledEventIds {
  readonly retryMs: number | undefined;
  /** Returns the id of a response; undefined if it is empty or contains NUL, CR or LF. */
  idOf(response: Message): string | undefined;
  /**
   * Does nothing if the Last-Event-ID header is absent or empty. Otherwise, puts the value of the header into the
   * request and clears the `removedFields`. Throws MALFORMED if the header was sent twice or is not UTF-8.
   */
  resume(request: Message, rawHeaders: readonly string[]): void;
}

const header = "Last-Event-ID";
const unfit = /[\0\r\n]/;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Compiles the event ids of a method; returns undefined if the options define none. Throws for a field that does not
 * exist or has the wrong type.
 */
export function compileEventIds(method: DescMethod, options: EventIdOptions): CompiledEventIds | undefined {
  const ids = options.eventIds?.(method);
  if (ids === undefined) return undefined;
  const ofResponse = stringField(method.output, ids.responseField);
  const ofRequest = stringField(method.input, ids.requestField);
  const removed = (ids.removedFields ?? []).map((name) => fieldOf(method.input, name));
  return {
    retryMs: ids.retryMs,
    idOf(response) {
      const id = heldValue(fieldsOf(response), ofResponse);
      return typeof id !== "string" || id === "" || unfit.test(id) ? undefined : id;
    },
    resume(request, rawHeaders) {
      const id = lastEventId(rawHeaders);
      if (id === undefined) return;
      for (const field of removed) clearField(request, field);
      setField(fieldsOf(request), ofRequest, id);
    },
  };
}

/**
 * Returns the value of the Last-Event-ID header, which is UTF-8 (html.spec.whatwg.org). Returns undefined if the header
 * is absent or empty. Throws a MALFORMED RestError if the header is sent more than once or is not UTF-8.
 */
function lastEventId(rawHeaders: readonly string[]): string | undefined {
  const [value = "", ...others] = headerValues("last-event-id", rawHeaders);
  if (others.length > 0) throw refused("DUPLICATE", "the header must be sent once");
  if (value === "") return undefined;
  try {
    return utf8.decode(Uint8Array.from(value, (character) => character.charCodeAt(0)));
  } catch {
    throw refused("INVALID_FORMAT", "the header must be UTF-8");
  }
}

function refused(code: "DUPLICATE" | "INVALID_FORMAT", message: string) {
  return malformed(`The ${header} header is invalid.`, [{ code, field: header, message }]);
}

function stringField(schema: DescMessage, name: string): DescField {
  const field = fieldOf(schema, name);
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) return field;
  throw new Error(`${schema.typeName}.${name} is not a string and cannot be the id of an event`);
}

function fieldOf(schema: DescMessage, name: string): DescField {
  const field = schema.fields.find((each) => each.name === name);
  if (field === undefined) throw new Error(`${schema.typeName} has no field ${name}`);
  return field;
}
