import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeOperations, tableOfOperations } from "../../src/command-line/operation-table.js";
import { servedServices } from "../../src/services/services.js";

const rows = describeOperations(servedServices.map(({ service }) => service));

test("an operation has the stages that its proto asks for, and no other", () => {
  expect(rowOf("RegisterPatient")).toEqual({
    operation: "cupo.access.v1.PatientService/RegisterPatient",
    rest: ["POST /patients"],
    scope: "patients:write",
    stages:
      "response headers, authentication, quota, load shedding, authorization, request headers, message, validation, redaction, permit, transaction".split(
        ", ",
      ),
  });
  expect(rowOf("WatchEvents")?.stages.join(", ")).toBe(
    "response headers, authentication, quota, authorization, request headers, message, validation, permit, stream life",
  );
});

test("every operation authenticates, is counted, and judges headers and message", () => {
  const shared = ["response headers", "authentication", "quota", "authorization", "request headers", "message"];
  const missing = rows.filter(({ stages }) => shared.concat("validation").some((name) => !stages.includes(name)));
  expect(missing).toEqual([]);
});

test("every operation waits for a permit in the fair queue, and all but streams can be refused before that", () => {
  expect(rows.filter(({ stages }) => !stages.includes("permit"))).toEqual([]);
  const unpaced = rows.filter(({ stages }) => !stages.includes("load shedding"));
  expect(unpaced.map(({ operation }) => operation)).toEqual(["cupo.clinic.v1.EventService/WatchEvents"]);
});

test("docs/internals/lifecycle.md shows rows as the program prints them", () => {
  const page = readFileSync(new URL("../../docs/internals/lifecycle.md", import.meta.url), "utf8");
  const printed = tableOfOperations(rows).split("\n");
  const shown = page.split("\n").filter((line) => line.startsWith("| cupo."));
  expect(shown.length).toBeGreaterThan(3);
  expect(shown.filter((line) => !printed.includes(line))).toEqual([]);
});

function rowOf(name: string) {
  return rows.find(({ operation }) => operation.endsWith(`/${name}`));
}
