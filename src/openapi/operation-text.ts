import type { DescMethod } from "@bufbuild/protobuf";
import { KEY_RETENTION_HOURS } from "../interceptors/idempotency.js";
import { operationOf, takesIdempotencyKey } from "../operation.js";

/** The comment of a method, and whether its operation is a partial update. */
export interface OperationTraits {
  /** The proto comment of the method as CommonMark. */
  readonly comment: string;
  /** Whether an absent member of the body leaves its attribute unchanged. */
  readonly isPartial: boolean;
}

/**
 * Returns the description of an operation as CommonMark: the comment of its method, and rules such as the required
 * scope.
 */
export function operationDescription(method: DescMethod, { comment, isPartial }: OperationTraits): string {
  const { scope, preview, heavy } = operationOf(method);
  const isVersioned = method.input.fields.some(({ name }) => name === "expected_version");
  const paragraphs = [
    comment,
    preview && "**Preview**: the operation can be used, but it may still change.",
    `Requires the scope \`${scope}\`.`,
    takesIdempotencyKey(method)
      ? keyRule
      : "**Idempotency**: the operation changes no resource and takes no key. It can be repeated at any time.",
    isVersioned && versionRule,
    isPartial && partialRule,
    heavy && heavyRule,
  ];
  return paragraphs.filter((paragraph) => paragraph !== false).join("\n\n");
}

const heavyRule =
  "**Heavy**: the call can take seconds. A tenant can have only a few such calls in progress. Further calls wait. If the wait is too long, the answer is " +
  "503 with `BUSY`.";

const keyRule =
  "**Idempotency**: send a new `Idempotency-Key` with each new request. If no answer came, send the same request with the same key again. It takes effect " +
  `once. The first answer is repeated for ${KEY_RETENTION_HOURS} hours, with \`Idempotent-Replayed: true\`. The same key with another request is a conflict ` +
  "(`IDEMPOTENCY_KEY_REUSED`). A rejected request does not use up its key.";

const versionRule =
  "**Versions**: send the `version` that you read last as `expectedVersion`. If the resource has another version now, nothing changes and the answer is a " +
  "conflict (`STALE_VERSION`). Read the resource again before you retry.";

const partialRule =
  "**Partial update**: only members that are sent change. A member is never sent as `null`. A body with `expectedVersion` alone changes nothing.";
