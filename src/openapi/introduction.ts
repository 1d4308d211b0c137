import { KEY_RETENTION_HOURS } from "../interceptors/idempotency.js";
import { idempotencyKeyForm } from "../interceptors/request-headers.js";

/** Rules that every caller must know before the first operation, as CommonMark with a heading per topic. */
export const introduction = `## Authentication

Send an access token with each request: \`Authorization: Bearer …\`. Your issuer signs it for one tenant and grants the scopes that the operations name.

## Idempotency keys

Each change needs an \`Idempotency-Key\`: 1 to ${idempotencyKeyForm.maxLength} visible ASCII characters, a new one for each change. Send a retry with the same key and the same body. The answer is then the first one, with \`Idempotent-Replayed: true\`, and nothing happens twice. A key expires after ${KEY_RETENTION_HOURS} hours. Reads take no key.

## Versions

Send the \`version\` that you read last as \`expectedVersion\`. If another change came first, nothing happens and the answer is 409 with \`STALE_VERSION\`. Read the resource again before you retry.

## Errors

An error is a Problem (RFC 9457). \`code\` says what happened, \`errors\` lists each wrong field, and \`type\` is the address of a page that explains the error. After 429 and 503 wait for the seconds in \`Retry-After\`, then send the same request with the same key. Quote \`correlationId\` when you ask for help.

## Pages

A list returns pages of 50 items. \`pageSize\` asks for another number, 200 at most. Send \`nextPageToken\` as \`pageToken\` and change nothing else. On the last page it is empty.`;
