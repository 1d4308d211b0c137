import { ScalarType } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createListedValidator } from "./listed-validator.js";
import { type Members, messageOf, OTHER_UUID, requestWith, UUID, validRequests } from "./valid-requests.js";

const validate = createListedValidator();

const LONG_EMAIL = `${"a".repeat(64)}@${"b.".repeat(95)}co`;
const UUIDS = Array.from({ length: 501 }, (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`);

describe("requests", () => {
  it.each(validRequests)("$schema.name is accepted with all members and with only the required ones", (request) => {
    const { schema, required, optional } = request;
    expect(validate(schema, messageOf(schema, { ...required, ...optional }))).toEqual([]);
    expect(validate(schema, messageOf(schema, required))).toEqual([]);
  });

  it.each(validRequests)("$schema.name without members reports all required ones, in order", ({ schema, required }) => {
    const missing = schema.fields.filter(({ jsonName }) => jsonName in required);
    expect(validate(schema, messageOf(schema, {})).map(({ field, code }) => `${field} ${code}`)).toEqual(
      missing.map(({ jsonName, fieldKind }) => `${jsonName} ${fieldKind === "list" ? "TOO_FEW" : "REQUIRED"}`),
    );
  });
});

describe("numbers and enumerations", () => {
  it.each([
    ["CreateAppointmentTypeRequest", "durationMinutes", [1, 1440], [0, -1, 1441], "OUT_OF_RANGE"],
    ["UpdateAppointmentTypeRequest", "durationMinutes", [1, 1440], [0, 1441], "OUT_OF_RANGE"],
    ["UpdateProgramRuleRequest", "slotDurationMinutes", [1, 1440], [0, 1441], "OUT_OF_RANGE"],
    ["UpdateProgramRuleRequest", "dailyCapacity", [1, 10_000], [0, -1, 10_001], "INVALID_CAPACITY"],
    ["UpdateProgramRuleRequest", "expectedVersion", [-2_147_483_648, 0, 2_147_483_647], [], ""],
    ["UpdateProgramRuleRequest", "recurrence", [1], [0, 2, -1], "INVALID_VALUE"],
    ["UpdateProgramRuleRequest", "holidayPolicy", [1, 2, 3], [0, 4], "INVALID_VALUE"],
    ["CreateCaseRequest", "category", [1, 2, 3, 4, 5], [0, 6], "INVALID_VALUE"],
    ["CreateRequestSourceRequest", "channel", [1, 2, 3, 4], [0, 5], "INVALID_VALUE"],
    ["UpdateRequestSourceRequest", "channel", [1, 2, 3, 4], [0, 5], "INVALID_VALUE"],
  ] as const)("%s.%s", (name, member, takes, refuses, code) => {
    for (const value of takes) expect(broken(name, { [member]: value }), String(value)).toEqual([]);
    for (const value of refuses)
      expect(broken(name, { [member]: value }), String(value)).toEqual([`${member} ${code}`]);
  });
});

describe("lists", () => {
  const dates = Array.from({ length: 501 }, (_, i) => `${2000 + i}-01-01`);

  it.each<[string, string, readonly unknown[], readonly string[]]>([
    ["ReplaceProgramPractitionersRequest", "practitionerIds", [], []],
    ["ReplaceProgramPractitionersRequest", "practitionerIds", UUIDS.slice(1), []],
    ["ReplaceProgramPractitionersRequest", "practitionerIds", UUIDS, ["practitionerIds TOO_MANY"]],
    [
      "ReplaceProgramPractitionersRequest",
      "practitionerIds",
      [UUID, "x", UUID.toUpperCase(), OTHER_UUID, UUID, "x y", "y"],
      [
        "practitionerIds[1] INVALID_UUID",
        "practitionerIds[2] DUPLICATE",
        "practitionerIds[4] DUPLICATE",
        "practitionerIds[5] INVALID_UUID",
        "practitionerIds[6] INVALID_UUID",
      ],
    ],
    ["UpdateProgramRuleRequest", "holidayDates", [], []],
    ["UpdateProgramRuleRequest", "holidayDates", dates.slice(0, 500), []],
    ["UpdateProgramRuleRequest", "holidayDates", dates, ["holidayDates TOO_MANY"]],
    [
      "UpdateProgramRuleRequest",
      "holidayDates",
      ["2026-01-01", "2026-02-29", "2026-01-01"],
      ["holidayDates[1] INVALID_DATE", "holidayDates[2] DUPLICATE"],
    ],
    ["UpdateProgramRuleRequest", "weekdays", [7, 1], []],
    ["UpdateProgramRuleRequest", "weekdays", [], ["weekdays TOO_FEW"]],
    [
      "UpdateProgramRuleRequest",
      "weekdays",
      [0, 1, 8, 1, 0],
      [
        "weekdays[0] OUT_OF_RANGE",
        "weekdays[2] OUT_OF_RANGE",
        "weekdays[3] DUPLICATE",
        "weekdays[4] OUT_OF_RANGE",
        "weekdays[4] DUPLICATE",
      ],
    ],
    ["CreateWaitlistEntryRequest", "preferredPeriods", [1, 2, 3, 4], []],
    ["CreateWaitlistEntryRequest", "preferredPeriods", [], ["preferredPeriods TOO_FEW"]],
    [
      "CreateWaitlistEntryRequest",
      "preferredPeriods",
      [1, 0, 5, 1],
      ["preferredPeriods[1] INVALID_VALUE", "preferredPeriods[2] INVALID_VALUE", "preferredPeriods[3] DUPLICATE"],
    ],
  ])("%s.%s %#", (name, member, value, expected) => {
    expect(broken(name, { [member]: value })).toEqual(expected);
  });

  it("ignores weekdays that the update mask does not name", () => {
    const weekdays: number[] = [];
    expect(broken("UpdateProgramRuleRequest", { weekdays, updateMask: undefined })).toEqual([]);
    expect(broken("UpdateProgramRuleRequest", { weekdays, updateMask: { paths: ["active"] } })).toEqual([]);
  });

  it("are measured before their items are validated", () => {
    const practitionerIds = Array.from({ length: 42_000 }, () => "y");
    const errors = validate(...requestWith("ReplaceProgramPractitionersRequest", { programId: "x", practitionerIds }));
    expect(errors.map(({ field, code, message }) => `${field} ${code}: ${message}`)).toEqual([
      "programId INVALID_UUID: the value must be a UUID",
      "practitionerIds TOO_MANY: the list must have at most 500 items",
    ]);
  });

  it("report every invalid item, and the number of further errors above the limit", () => {
    const practitionerIds = Array.from({ length: 500 }, () => "y");
    const errors = validate(...requestWith("ReplaceProgramPractitionersRequest", { programId: "x", practitionerIds }));
    expect(errors.slice(0, 3).map(({ field, code }) => `${field} ${code}`)).toEqual([
      "programId INVALID_UUID",
      "practitionerIds[0] INVALID_UUID",
      "practitionerIds[1] INVALID_UUID",
    ]);
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toEqual({ code: "MORE_ERRORS", field: "", message: "900 more errors are not listed" });
  });
});

describe("ranges", () => {
  it.each([
    ["CreateWaitlistEntryRequest", "dateFrom", "dateTo"],
    ["CreateContractRequest", "validFrom", "validTo"],
  ])("%s: %s to %s", (name, from, to) => {
    const between = (first: string | undefined, last: string) => broken(name, { [from]: first, [to]: last });
    expect(between("2026-03-01", "2026-03-01")).toEqual([]);
    expect(between("0999-12-31", "1000-01-01")).toEqual([]);
    expect(between("2026-03-02", "2026-03-01")).toEqual([`${to} INVALID_RANGE`]);
    expect(between("2026-03-02", "2026-02-30")).toEqual([`${to} INVALID_DATE`]);
    expect(between("2026-3-2", "2026-02-01")).toEqual([`${from} INVALID_DATE`]);
    expect(between(undefined, "2026-02-01")).toEqual([`${from} REQUIRED`]);
  });
});

describe("messages", () => {
  it.each<[string, Members, string]>([
    ["RegisterPatientRequest", { consentGrantedAt: undefined }, "the field is required"],
    ["RegisterPatientRequest", { fullName: "" }, "the value must not be empty"],
    ["RegisterPatientRequest", { fullName: "x".repeat(201) }, "the value must have at most 200 characters"],
    ["RegisterPatientRequest", { email: "x" }, "the value must be an email address"],
    ["RegisterPatientRequest", { email: LONG_EMAIL }, "the value must have at most 254 characters"],
    ["CheckEligibilityRequest", { payerId: "x" }, "the value must be a UUID"],
    ["CheckEligibilityRequest", { serviceDate: "x" }, "the value must be a valid ISO 8601 date"],
    ["CreateAppointmentTypeRequest", { durationMinutes: 0 }, "the value must be from 1 to 1440"],
    ["UpdateProgramRuleRequest", { dailyCapacity: 0 }, "the value must be from 1 to 10000"],
    ["UpdateProgramRuleRequest", { weekdays: [8] }, "the value must be from 1 to 7"],
    ["ReplaceProgramPractitionersRequest", { practitionerIds: UUIDS }, "the list must have at most 500 items"],
  ])("of %s with %j: %s", (name, members, expected) => {
    expect(validate(...requestWith(name, members)).map(({ message }) => message)).toEqual([expected]);
  });

  it.each(validRequests)("of $schema.name never repeat a value", ({ schema, required }) => {
    const secret = "\u0000Zx9Qw7 ".repeat(1000);
    const texts = schema.fields.filter(({ scalar }) => scalar === ScalarType.STRING);
    const hostile = texts.map(({ jsonName, fieldKind }) => [
      jsonName,
      fieldKind === "list" ? [secret, secret] : secret,
    ]);
    const errors = validate(schema, messageOf(schema, { ...required, ...Object.fromEntries(hostile) }));
    expect(errors.length).toBeGreaterThan(0);
    expect(JSON.stringify(errors)).not.toContain("Zx9Qw7");
  });
});

function broken(name: string, replaced: Members): string[] {
  return validate(...requestWith(name, replaced)).map(({ field, code }) => `${field} ${code}`);
}
