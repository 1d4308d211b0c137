import type { DescMethod } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { type ErrorCode, errorTable, type FieldErrorCode } from "../../src/errors.js";
import { operationOf } from "../../src/operation.js";
import type { CodeEntry } from "../../src/problems/code-entry.js";
import { fieldCodes } from "../../src/problems/field-codes.js";
import { codesOf } from "../../src/problems/operation-codes.js";
import { problemCodes } from "../../src/problems/problem-codes.js";
import { servedServices } from "../../src/services/services.js";

const intro = `# Errors

For authors of clients: what each code means, its cause, and what to do.

Each error is a Problem (RFC 9457) with a \`code\`. The items of its \`errors\` name wrong fields or a conflict, with codes of their own.
New codes may be added: for an unknown code go by the HTTP status. \`detail\` has the first item with its field, and the number of the
others. It never repeats what was sent.

The public listener serves these texts at the paths below, where the \`type\` of each Problem points. Up to eight operations are named.
If there are more, the page of a code in \`errors\` names the published ones. The OpenAPI documents list the codes of each operation as
\`x-error-codes\`. For gRPC and Connect see [rpc-errors.md](rpc-errors.md).

\`npm run docs:errors\` makes this page from \`src/errors.ts\` and \`src/problems/\`.
`;

/** The page names at most this many operations of a code. If there are more, it has their number. */
const MAX_NAMES = 8;

const methods = servedServices.flatMap(({ service }) => service.methods);
const problems = Object.keys(errorTable) as ErrorCode[];

/** Returns the text of `docs/reference/errors.md`. */
export function errorsPage(): string {
  const codes = Object.keys(fieldCodes) as FieldErrorCode[];
  return [
    intro,
    "## Statuses\n",
    "| Code of the Problem, and in `errors` | REST | gRPC |\n| --- | --- | --- |",
    ...problems.flatMap(statusRows),
    "\n## Codes of Problems\n",
    ...problems.map((code) => `### ${code}\n\n${sentences(problemCodes[code])}\n\n${ofProblem(code)}\n`),
    "## Codes in errors\n\nEach begins with its HTTP statuses.\n",
    ...codes.map((code) => `### \`${code}\`\n\n${sentencesOf(code)}`),
  ].join("\n");
}

function statusRows(code: ErrorCode): string[] {
  const { status, connectCode, codesByReason } = errorTable[code];
  const own = Object.entries(codesByReason).map(([reason, rpcCode]) => [`\`${reason}\``, rpcCode] as const);
  const other = own.length === 0 ? "" : "other";
  return [...own, [other, connectCode] as const].map(
    ([reason, rpcCode]) => `| \`${code}\`${reason && `, ${reason}`} | ${status} | \`${nameOf(rpcCode)}\` |`,
  );
}

function sentences({ meaning, cause, remedy }: CodeEntry): string {
  return `${meaning} Cause: ${cause} Do: ${remedy}`;
}

function sentencesOf(code: FieldErrorCode): string {
  const answering = methods.filter((method) => problems.some((problem) => canContain(method, problem, code)));
  const containing = problems.filter((problem) => answering.some((method) => canContain(method, problem, code)));
  const statuses = containing.map((problem) => errorTable[problem].status).join(", ");
  const pages = containing.map((problem) => `\`${pageOf(problem)}#${code}\``).join(", ");
  return `${statuses}. ${sentences(fieldCodes[code])}\n\n${operations(answering)}: ${pages}\n`;
}

function canContain(method: DescMethod, problem: ErrorCode, code: FieldErrorCode): boolean {
  return codesOf(method)[problem]?.includes(code) === true;
}

/**
 * The page of a Problem, with the operations that state its status. Every operation can return a 5xx. No operation
 * states the statuses of requests that the HTTP server rejects.
 */
function ofProblem(code: ErrorCode): string {
  const { status } = errorTable[code];
  const answering = methods.filter((method) => status >= 500 || operationOf(method).errorStatuses.includes(status));
  const named = answering.length === 0 ? "" : `${operations(answering)}: `;
  return `${named}\`${pageOf(code)}\``;
}

function operations(answering: readonly DescMethod[]): string {
  if (answering.length === methods.length) return "All operations";
  if (answering.length <= MAX_NAMES) return answering.map(({ name }) => `\`${name}\``).join(", ");
  return `${answering.length} operations`;
}

/** The path of a Problem's page on the public listener. */
function pageOf(problem: ErrorCode): string {
  return `/problems/${errorTable[problem].slug}`;
}

function nameOf(code: Code): string {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}
