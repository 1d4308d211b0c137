import { readFileSync } from "node:fs";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import {
  CupoError,
  conflict,
  type ErrorCode,
  errorTable,
  invalidRequest,
  notFound,
  validationFailed,
} from "../../src/errors.js";
import { BadRequestSchema, ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.js";
import { errorDetailsOf } from "../../src/interceptors/error-details.js";

const item = { code: "NOT_FOUND", field: "patientId", message: "no such resource exists" } as const;

describe("the details of an error", () => {
  test.each(Object.keys(errorTable) as ErrorCode[])("always name its reason: %s", (code) => {
    const [info, ...others] = errorDetailsOf(new CupoError(code));
    const metadata = { code, status: String(errorTable[code].status) };
    expect(info).toMatchObject({ desc: ErrorInfoSchema, value: { reason: code, domain: "cupo", metadata } });
    expect(others).toEqual([]);
  });

  test.each([
    { kind: "a request", error: invalidRequest("no", [item]) },
    { kind: "a reference", error: notFound("no", [item]) },
    { kind: "a rule", error: validationFailed([item]) },
  ])("name the field that is wrong of $kind", ({ error }) => {
    const fieldViolations = [{ field: "patientId", reason: "NOT_FOUND", description: "no such resource exists" }];
    expect(errorDetailsOf(error).at(1)).toMatchObject({ desc: BadRequestSchema, value: { fieldViolations } });
  });

  test("name no bad request where the state is in the way", () => {
    const details = errorDetailsOf(conflict({ ...item, code: "SLOT_OCCUPIED" }));
    expect(details).toMatchObject([{ value: { reason: "SLOT_OCCUPIED", metadata: { field: "patientId" } } }]);
  });

  test("name twenty fields at most, because they travel in trailers", () => {
    const details = errorDetailsOf(validationFailed(Array.from({ length: 21 }, () => item)));
    expect(details.at(1)).toMatchObject({ value: { fieldViolations: Array.from({ length: 20 }, () => ({})) } });
  });
});

test("the page of RPC errors has every code and reason of the table, and no other", () => {
  const page = readFileSync(new URL("../../docs/rpc-errors.md", import.meta.url), "utf8");
  const rows = Array.from(page.matchAll(/^\| `(\w+)` \|([^|]*)\| (\d+) \| `(\w+)` \|/gm), ([, code, reason, ...rest]) =>
    [code, reason?.includes("any") ? "" : reason?.replaceAll("`", "").trim(), ...rest].join(" "),
  );
  const expected = Object.entries(errorTable).flatMap(([code, { status, connectCode, codesByReason }]) =>
    [...Object.entries(codesByReason), ["", connectCode] as const].map(([reason, rpcCode]) =>
      [code, reason, status, nameOf(rpcCode)].join(" "),
    ),
  );
  expect(rows).toEqual(expected);
});

function nameOf(code: Code): string {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}
