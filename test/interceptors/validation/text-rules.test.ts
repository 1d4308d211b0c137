import { createRegistry } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { describe, expect, it } from "vitest";
import { file_cupo_options_v1_rules as projectRules } from "../../../src/gen/cupo/options/v1/rules_pb.js";
import { createListedValidator } from "./listed-validator.js";
import { requestWith, UUID, validRequests } from "./valid-requests.js";

const validate = createListedValidator();

/** Characters that look like 1 or A, or are invisible next to them. */
const MISTAKABLE = [
  ["zero-width space", "1\u200b"],
  ["joiner", "A\u200dA"],
  ["soft hyphen", "1\u00ad2"],
  ["override", "1\u202e2"],
  ["isolate", "1\u20662"],
  ["tag", "1\u{e0041}"],
  ["byte order mark", "\ufeff1"],
  ["variation selector", "1\ufe0f"],
  ["combining mark", "A\u0301"],
  ["filler", "1\u3164"],
  ["Cyrillic", "\u0410"],
  ["Greek", "\u0391"],
  ["Armenian", "\u0555"],
  ["Cherokee", "\u13aa"],
  ["Lisu", "\ua4d0"],
  ["Lisu, supplement", "\u{11fb0}"],
  ["full width", "\uff11"],
  ["raised", "1\u00b2"],
  ["circled", "\u2460"],
  ["mathematical", "\u{1d400}"],
  ["letterlike", "\u212a"],
  ["Roman numeral", "\u2160"],
  ["ligature", "\ufb01"],
].map(([, text = ""]) => text);

/** The request, its member, valid values, and invalid values by their code. */
const texts: readonly (readonly [string, string, readonly string[], Readonly<Record<string, readonly string[]>>])[] = [
  [
    "RegisterPatientRequest",
    "documentType",
    ["C", "PASAPORTE_2-X", "CÉDULA", "x".repeat(32)],
    {
      TOO_SHORT: [""],
      TOO_LONG: ["x".repeat(33)],
      INVALID_FORMAT: [" ", "C C", "CC ", "C.C", "C\n", "\u0000", "😀", ...MISTAKABLE],
    },
  ],
  [
    "RegisterPatientRequest",
    "documentNumber",
    ["0", "- 1 /", ".Ñ.", "AB 12-34/5.6", "9".repeat(32)],
    {
      TOO_SHORT: [""],
      TOO_LONG: ["9".repeat(33)],
      INVALID_FORMAT: [
        " ",
        "-",
        ". /-",
        " 1",
        "1 ",
        "1_2",
        "1\t2",
        "1\u00a02",
        "1\n",
        "1\u0000",
        "\ud800",
        "#1",
        ...MISTAKABLE,
      ],
    },
  ],
  [
    "RegisterPatientRequest",
    "fullName",
    ["x", "  x  ", "Ana\u00a0María", "Анна", "Jose\u0301", "محمد\u200cعلی", "👨‍👩‍👧", "😀".repeat(200)],
    {
      TOO_SHORT: [""],
      TOO_LONG: ["x".repeat(201), "😀".repeat(201)],
      INVALID_FORMAT: [
        " ",
        "\u3000\u00a0",
        "\u200b",
        "\n",
        "a\nb",
        "a\tb",
        "a\u0000",
        "a\u007f",
        "a\u0085",
        "a\ud800",
        "\udc00a",
        "a\u200b",
        "a\u00adb",
        "a\u202eb",
        "a\u2066b",
        "a\u200fb",
        "a\ufeff",
        "a\u3164",
        "a\u{e0041}",
      ],
    },
  ],
  [
    "RegisterPatientRequest",
    "phone",
    ["12345", "1a2b3c4d5", "(+57) 300-123 ext. 4", `${"x".repeat(59)}12345`],
    {
      TOO_SHORT: [""],
      TOO_LONG: [`${"x".repeat(60)}12345`],
      INVALID_FORMAT: ["1234", "     ", "123\n45", "12345\u0000", "12345\u2028", "12345\u202e", "\ud80012345", "١٢٣٤٥"],
    },
  ],
  [
    "RegisterPatientRequest",
    "email",
    ["a@b", "a.b+c@example.com", `${"a".repeat(64)}@${"b.".repeat(93)}co`],
    {
      INVALID_EMAIL: [
        "",
        " ",
        "a",
        "@b",
        "a@",
        "a b@c",
        "ñ@b.co",
        "a@b..c",
        "a@b\n",
        "a@b\u0000",
        "A <a@b.co>",
        ".a@b.co",
        "a.@b.co",
        "a..b@c.co",
        `${"a".repeat(65)}@b.co`,
      ],
      TOO_LONG: [`${"a".repeat(64)}@${"b.".repeat(95)}co`],
    },
  ],
  [
    "UpdatePatientRequest",
    "fullName",
    ["x", "x".repeat(200)],
    { TOO_SHORT: [""], TOO_LONG: ["x".repeat(201)], INVALID_FORMAT: [" ", "a\u0000"] },
  ],
  [
    "UpdatePatientRequest",
    "phone",
    ["12345"],
    { TOO_SHORT: [""], TOO_LONG: ["1".repeat(65)], INVALID_FORMAT: ["1234"] },
  ],
  [
    "UpdatePatientRequest",
    "email",
    ["a@b"],
    { INVALID_EMAIL: ["", "a", ".a@b.co"], TOO_LONG: [`${"a".repeat(64)}@${"b.".repeat(95)}co`] },
  ],
  ["UpdatePatientRequest", "patientId", ["", "x", " "], {}],
  ["RescheduleAppointmentRequest", "appointmentId", ["", "x", " "], {}],
  [
    "RescheduleAppointmentRequest",
    "optionToken",
    ["x", "x".repeat(2048)],
    { TOO_SHORT: [""], TOO_LONG: ["x".repeat(2049)] },
  ],
  [
    "CheckEligibilityRequest",
    "payerId",
    [UUID, UUID.toUpperCase(), "00000000-0000-0000-0000-000000000000"],
    { INVALID_UUID: ["", "x", ` ${UUID}`, `{${UUID}}`, UUID.replaceAll("-", ""), `urn:uuid:${UUID}`, `${UUID}\n`] },
  ],
  [
    "CreateCaseRequest",
    "externalReference",
    ["x", "x".repeat(128)],
    { TOO_SHORT: [""], TOO_LONG: ["x".repeat(129)], INVALID_FORMAT: ["  ", "a\nb"] },
  ],
  [
    "CreateCaseRequest",
    "description",
    ["x", "a\r\nb\tc\n", "\n x", "x".repeat(4000), "😀".repeat(4000)],
    {
      TOO_SHORT: [""],
      TOO_LONG: ["x".repeat(4001)],
      INVALID_FORMAT: [" \n\t\r\n", "\u200b\n", "a\u0000", "a\u000b", "a\u001b[0m", "a\u0085", "a\udfff"],
    },
  ],
  ["CreateCaseRequest", "patientId", [UUID], { INVALID_UUID: ["", "x"] }],
  ["CreateCaseRequest", "appointmentId", [UUID], { INVALID_UUID: ["", "x"] }],
  [
    "UpdateConsultationTypeRequest",
    "description",
    ["", "x", "a\nb", "x".repeat(4000)],
    { TOO_LONG: ["x".repeat(4001)], INVALID_FORMAT: [" ", "\n", "a\u0000"] },
  ],
  ...requestsThatHave("code").map((name) => {
    const takes = ["x", "a b", "ñ", "心電図", "a_b/c.d#1", "x".repeat(64)];
    const refuses = {
      TOO_SHORT: [""],
      TOO_LONG: ["x".repeat(65)],
      INVALID_FORMAT: [" ", " a", "a ", "\u00a0a", "a\nb", "a\u0000", ...MISTAKABLE],
    };
    return [name, "code", takes, refuses] as const;
  }),
  ...requestsThatHave("name").map((name) => {
    const refuses = { TOO_SHORT: [""], TOO_LONG: ["x".repeat(201)], INVALID_FORMAT: ["  ", "a\nb", "a\u0000"] };
    return [name, "name", ["x", " x ", "x".repeat(200)], refuses] as const;
  }),
  [
    "CreatePayerRequest",
    "taxId",
    ["x", "x".repeat(32)],
    { TOO_SHORT: [""], TOO_LONG: ["x".repeat(33)], INVALID_FORMAT: [" ", "1\n"] },
  ],
];

describe("texts", () => {
  it.each(texts)("%s.%s", (name, member, takes, refuses) => {
    for (const value of takes) expect(brokenWith(name, member, value), JSON.stringify(value)).toEqual([]);
    for (const [code, values] of Object.entries(refuses)) {
      for (const value of values) {
        expect(brokenWith(name, member, value), JSON.stringify(value)).toEqual([`${member} ${code}`]);
      }
    }
  });

  it("gives the same results with the protovalidate engine that other implementations use", () => {
    const { validate: validateWithRe2 } = createValidator({ registry: createRegistry(projectRules) });
    for (const [name, member, takes, refuses] of texts) {
      for (const value of [...takes, ...Object.values(refuses).flat()]) {
        const { kind } = validateWithRe2(...requestWith(name, { [member]: value }));
        expect(kind, JSON.stringify([member, value])).toBe(takes.includes(value) ? "valid" : "invalid");
      }
    }
  });

  it("reports an error once even if two rules find it", () => {
    expect(brokenWith("CreatePayerRequest", "code", "  ")).toEqual(["code INVALID_FORMAT"]);
  });

  it("are measured in code points before they are validated", () => {
    expect(brokenWith("CreatePayerRequest", "code", `${"x".repeat(64)} `)).toEqual(["code TOO_LONG"]);
    expect(brokenWith("RegisterPatientRequest", "email", "a".repeat(255))).toEqual(["email TOO_LONG"]);
    expect(brokenWith("CreatePayerRequest", "name", "😀".repeat(200))).toEqual([]);
    expect(brokenWith("CreatePayerRequest", "name", "😀".repeat(201))).toEqual(["name TOO_LONG"]);
    expect(brokenWith("CreatePayerRequest", "name", "\ud800".repeat(201))).toEqual(["name TOO_LONG"]);
  });
});

function requestsThatHave(member: string): string[] {
  return validRequests.filter((r) => member in r.required || member in r.optional).map(({ schema }) => schema.name);
}

function brokenWith(name: string, member: string, value: unknown): string[] {
  return validate(...requestWith(name, { [member]: value })).map(({ field, code }) => `${field} ${code}`);
}
