import { Code } from "@connectrpc/connect";
import { type ErrorCode, errorTable, type FieldErrorCode } from "../../src/errors.js";
import type { CodeEntry } from "../../src/problems/code-entry.js";
import { fieldCodes } from "../../src/problems/field-codes.js";
import { codesOf } from "../../src/problems/operation-codes.js";
import { problemCodes } from "../../src/problems/problem-codes.js";
import { servedServices } from "../../src/services/services.js";

const intro = `# Errors

For authors of clients: what every code of the service means, its cause, and what to do.

Each error is a Problem (RFC 9457) with a \`code\`. If fields are wrong or a resource is in conflict, the items of its \`errors\` have codes
of their own. New codes may be added: a client that does not know a code goes by the HTTP status. \`detail\` begins with the first item,
names its field, and gives the number of the other items. It never repeats what was sent.

The public listener serves the same texts at \`/problems\`, where the \`type\` of each Problem points. The OpenAPI documents list the
codes of each operation as \`x-error-codes\`. [rpc-errors.md](rpc-errors.md) has what gRPC and Connect send beside a Problem.

\`npm run docs:errors\` makes this page from \`src/errors.ts\` and \`src/problems/\`. A test keeps it current.
`;

/** Returns the text of `docs/reference/errors.md`. */
export function errorsPage(): string {
  const problems = Object.keys(errorTable) as ErrorCode[];
  const codes = Object.keys(fieldCodes) as FieldErrorCode[];
  return [
    intro,
    "## Statuses\n",
    "| Code of the Problem | Code in `errors` | REST | gRPC |\n| --- | --- | --- | --- |",
    ...problems.flatMap(statusRows),
    "\n## Codes of Problems\n",
    ...problems.map((code) => `### ${code}\n\n${sentences(problemCodes[code])}`),
    "## Codes in errors\n",
    ...codes.map((code) => `### \`${code}\`\n\n${sentences(fieldCodes[code])}${containers(code)}`),
  ].join("\n");
}

function statusRows(code: ErrorCode): string[] {
  const { status, connectCode, codesByReason } = errorTable[code];
  const own = Object.entries(codesByReason).map(([reason, rpcCode]) => [`\`${reason}\``, rpcCode] as const);
  const other = own.length === 0 ? "" : "any other";
  return [...own, [other, connectCode] as const].map(
    ([reason, rpcCode]) => `| \`${code}\` | ${reason} | ${status} | \`${nameOf(rpcCode)}\` |`,
  );
}

function sentences({ meaning, cause, remedy }: CodeEntry): string {
  return `${meaning} Cause: ${cause} Do: ${remedy}\n`;
}

/** The Problems that have a code. The OpenAPI documents say in which operations. */
function containers(code: FieldErrorCode): string {
  const methods = servedServices.flatMap(({ service }) => service.methods);
  const problems = Object.keys(errorTable) as ErrorCode[];
  const containing = problems.filter((problem) => methods.some((method) => codesOf(method)[problem]?.includes(code)));
  return `\nIn ${containing.map((problem) => `\`${problem}\``).join(", ")}.\n`;
}

function nameOf(code: Code): string {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}
