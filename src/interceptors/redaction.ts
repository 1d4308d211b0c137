import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import type { Interceptor, StreamResponse } from "@connectrpc/connect";
import { principalOf } from "../call.js";
import { readableWithScopeOf } from "../proto-options.js";
import type { Stage } from "./stage.js";

/**
 * The fields of a message type that redaction visits. `guarded` are the fields that need a scope. `below` are the
 * message fields that contain guarded fields at any depth.
 */
interface Plan {
  readonly guarded: readonly { readonly field: DescField; readonly scope: string }[];
  readonly below: readonly DescField[];
}

type Redact = (message: ReflectMessage, scopes: ReadonlySet<string>) => void;

/**
 * Removes from a response each field whose scope the principal lacks (specification section 5, rule 5). If a request
 * repeats an earlier one, its stored response is redacted by the scopes of the new request. Methods without fields
 * that need a scope do not get this stage.
 */
export function redaction(): Stage {
  const redact = createRedact();
  return ({ output }) => (holdsGuarded(output) ? redacting(output, redact) : undefined);
}

function redacting(output: DescMessage, redact: Redact): Interceptor {
  const guards = [...guardsOf(output)];
  return (next) => async (request) => {
    const response = await next(request);
    const { scopes } = principalOf(request.contextValues);
    if (guards.every((scope) => scopes.has(scope))) return response;
    const redacted = (message: Message) => {
      redact(reflect(output, message), scopes);
      return message;
    };
    if (response.stream) return { ...response, message: mapped(response.message, redacted) };
    redacted(response.message);
    return response;
  };
}

async function* mapped(
  messages: StreamResponse["message"],
  map: (message: Message) => Message,
): StreamResponse["message"] {
  for await (const message of messages) yield map(message);
}

function createRedact(): Redact {
  const plans = new Map<DescMessage, Plan>();
  const redact: Redact = (message, scopes) => {
    const plan = plans.get(message.desc) ?? planOf(message.desc);
    plans.set(message.desc, plan);
    for (const { field, scope } of plan.guarded) {
      if (!scopes.has(scope)) message.clear(field);
    }
    for (const field of plan.below) {
      for (const child of childrenOf(message, field)) redact(child, scopes);
    }
  };
  return redact;
}

function planOf({ fields }: DescMessage): Plan {
  return {
    guarded: fields.map((field) => ({ field, scope: readableWithScopeOf(field) })).filter(({ scope }) => scope !== ""),
    below: fields.filter(({ message }) => message !== undefined && holdsGuarded(message)),
  };
}

function holdsGuarded(schema: DescMessage): boolean {
  return guardsOf(schema).size > 0;
}

/**
 * Returns the scopes that a caller needs for all fields of a message and of its nested messages. `seen` stops
 * recursion.
 */
function guardsOf(schema: DescMessage, seen = new Set<DescMessage>()): ReadonlySet<string> {
  if (seen.has(schema)) return new Set();
  seen.add(schema);
  const guards = schema.fields.flatMap(({ message }) => (message === undefined ? [] : [...guardsOf(message, seen)]));
  return new Set([...guards, ...schema.fields.map(readableWithScopeOf).filter((scope) => scope !== "")]);
}

function childrenOf(message: ReflectMessage, field: DescField): Iterable<ReflectMessage> {
  if (!message.isSet(field)) return [];
  if (field.fieldKind === "message") return [message.get(field)];
  if (field.fieldKind === "list") return message.get(field) as Iterable<ReflectMessage>;
  if (field.fieldKind === "map") return message.get(field).values() as Iterable<ReflectMessage>;
  throw new Error(`the field contains no messages: ${field.toString()}`);
}
