import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SchedulingConfigurationService } from "../../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { type ComposedService, startComposedService } from "../support/composed-service.js";
import { sendRequest } from "../support/rest-request.js";

interface Problem {
  readonly status: number;
  readonly errors: readonly { readonly field: string; readonly code: string; readonly message: string }[];
}

const PROGRAM = randomUUID();
const tooMany = { field: "practitionerIds", code: "TOO_MANY", message: "the list must have at most 500 items" };

let service: ComposedService;

beforeAll(async () => {
  const never = () => Promise.reject(new Error("no such request is ever worked on"));
  const implementation = { replaceProgramPractitioners: never };
  service = await startComposedService([{ service: SchedulingConfigurationService, implementation }], {
    read: never,
    execute: never,
  });
});

afterAll(() => service.close());

describe("the violations of a request, over REST and RPC alike", () => {
  test("are only the size of a list that is too large, not its items", async () => {
    const body = { practitionerIds: Array(21_000).fill(""), expectedVersion: 1 };
    const overRest = await problemOverRest(body);
    expect(overRest).toMatchObject({ status: 422, errors: [tooMany] });
    expect(await problemOverRpc(body)).toMatchObject({ status: 422, errors: overRest.errors });
  });

  test("are the first hundred errors in the order of the fields, and the number of others", async () => {
    const body = { practitionerIds: Array(500).fill("x"), expectedVersion: 1 };
    const overRest = await problemOverRest(body);
    expect(overRest.errors).toHaveLength(101);
    expect(overRest.errors[0]).toMatchObject({ field: "practitionerIds[0]", code: "INVALID_UUID" });
    expect(overRest.errors[100]).toEqual({ field: "", code: "MORE_ERRORS", message: "899 more errors are not listed" });
    expect((await problemOverRpc(body)).errors).toEqual(overRest.errors);
  });
});

test("do not report a value that could not be read as missing, whatever came before it", async () => {
  const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x${index}`, 1]));
  const { errors } = await problemOverRest({ ...unknown, practitionerIds: [1], expectedVersion: "1" });
  expect(errors.slice(0, 3).map(({ field, code }) => `${field} ${code}`)).toEqual([
    "practitionerIds[0] INVALID_TYPE",
    "expectedVersion INVALID_TYPE",
    "x0 UNKNOWN_FIELD",
  ]);
  expect(errors.at(-1)).toMatchObject({ code: "MORE_ERRORS", message: "202 more errors are not listed" });
});

async function problemOverRest(body: object): Promise<Problem> {
  const url = `${service.publicUrl}/admin/configuration/scheduling/programs/${PROGRAM}/practitioners`;
  return problemIn((await sendRequest("PUT", url, { body })).body);
}

async function problemOverRpc(body: object): Promise<Problem> {
  const url = `${service.internalUrl}/cupo.access.v1.SchedulingConfigurationService/ReplaceProgramPractitioners`;
  const { body: error } = await sendRequest("POST", url, { body: { programId: PROGRAM, ...body } });
  return problemIn((error["details"] as readonly { readonly debug: unknown }[])[0]?.debug);
}

function problemIn(value: unknown): Problem {
  return value as Problem;
}
