import type { DescMethod } from "@bufbuild/protobuf";
import { KEY_RETENTION_HOURS } from "../interceptors/idempotency.js";
import { operationOf, takesIdempotencyKey } from "../operation.js";
import { definitionComment } from "./definition-comment.js";

/** What is true of an operation beyond its method. */
export interface OperationTraits {
  /** Whether members that are absent from its body leave what they are about as it is. */
  readonly isPartial: boolean;
}

/** The name of a method for people: `Register patient`, `Preview: Create holiday`. */
export function operationSummary(method: DescMethod): string {
  const [first = "", ...others] = method.name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").split(" ");
  const name = [first, ...others.map((word) => word.toLowerCase())].join(" ");
  return operationOf(method).preview ? `Preview: ${name}` : name;
}

/** What a method does, as its proto says it, and the rules that it shares with others, as CommonMark. */
export function operationDescription(method: DescMethod, { isPartial }: OperationTraits): string {
  const { scope, preview, heavy } = operationOf(method);
  const isVersioned = method.input.fields.some(({ name }) => name === "expected_version");
  const paragraphs = [
    definitionComment(method),
    preview && "**Preview**: the operation can be used, but is not yet under a promise of stability.",
    `Requires the scope \`${scope}\`.`,
    takesIdempotencyKey(method)
      ? keyRule
      : "**Idempotency**: it takes no key, because it only reads; it can be called again at any time.",
    isVersioned && versionRule,
    isPartial && partialRule,
    heavy && "It can take seconds. Only some such calls are worked on at once; one that finds no place is told 429.",
  ];
  return paragraphs.filter((paragraph) => paragraph !== false).join("\n\n");
}

const keyRule =
  "**Idempotency**: send a new `Idempotency-Key` with each new request. Where no answer came, send the same request with the same key again: it is done " +
  `once, and the first answer is repeated for ${KEY_RETENTION_HOURS} hours, marked \`Idempotent-Replayed: true\`. The same key with another request is a conflict ` +
  "(`IDEMPOTENCY_KEY_REUSED`). A request that was refused leaves its key free.";

const versionRule =
  "**Versions**: `expectedVersion` is the `version` that the caller saw last. Where it is another by now, nothing is changed and the answer is a conflict " +
  "(`STALE_VERSION`) that tells the current one: read the resource again and decide anew.";

const partialRule =
  "**Partial update**: only members that are sent are changed, and a member is never sent as `null`. A body with nothing but `expectedVersion` changes nothing.";
