import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import type { Interceptor } from "@connectrpc/connect";
import { principalOf } from "../call.js";
import { readable_with_scope as readableWithScope } from "../gen/cupo/options/v1/options_pb.js";

/** Where in a message there are fields that need a scope to be read: in these fields themselves, or below those. */
interface Plan {
  readonly guarded: readonly { readonly field: DescField; readonly scope: string }[];
  readonly below: readonly { readonly field: DescField; readonly plan: Plan }[];
}

/**
 * Leaves fields out of the response that the principal has no scope for (specification section 5, rule 5). It stands
 * outside the idempotency stage, so that a replay shows what the scopes of the new request allow, not the first one's.
 */
export function redaction(): Interceptor {
  const plans = new Map<DescMessage, Plan | undefined>();
  const planFor = (schema: DescMessage) => {
    if (!plans.has(schema)) plans.set(schema, planOf(schema, new Set()));
    return plans.get(schema);
  };
  return (next) => async (request) => {
    const response = await next(request);
    const plan = planFor(request.method.output);
    if (plan !== undefined && !response.stream) {
      redact(reflect(request.method.output, response.message), plan, principalOf(request.contextValues).scopes);
    }
    return response;
  };
}

function planOf(schema: DescMessage, above: ReadonlySet<DescMessage>): Plan | undefined {
  if (above.has(schema)) return undefined;
  const guarded = schema.fields
    .map((field) => ({ field, scope: getOption(field, readableWithScope) }))
    .filter(({ scope }) => scope !== "");
  const below = schema.fields.flatMap((field) => {
    const plan = field.message && planOf(field.message, new Set([...above, schema]));
    return plan ? [{ field, plan }] : [];
  });
  return guarded.length + below.length > 0 ? { guarded, below } : undefined;
}

function redact(message: ReflectMessage, plan: Plan, scopes: ReadonlySet<string>): void {
  for (const { field, scope } of plan.guarded) {
    if (!scopes.has(scope)) message.clear(field);
  }
  for (const { field, plan: inner } of plan.below) {
    for (const child of childrenOf(message, field)) redact(child, inner, scopes);
  }
}

function childrenOf(message: ReflectMessage, field: DescField): Iterable<ReflectMessage> {
  if (!message.isSet(field)) return [];
  if (field.fieldKind === "message") return [message.get(field)];
  if (field.fieldKind === "list" && field.listKind === "message") return message.get(field) as Iterable<ReflectMessage>;
  throw new Error(`fields that need a scope are not looked for below ${field.toString()}`);
}
