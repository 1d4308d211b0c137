import { create, type DescMethod } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { pageTokens } from "../../src/interceptors/page-tokens.js";
import { callWith, principalWith, refusal, requestOf, run, tenantId } from "./run-interceptor.js";

const { listPatients } = PatientDirectoryService.method;
const { registerPatient } = PatientService.method;
const { watchEvents } = EventService.method;
const LIST = "cupo.clinic.v1.PatientDirectoryService/ListPatients";
const HOLDER = `${LIST} ${tenantId}   ${principalWith().id}`;

/** A sealing function whose tokens are readable. */
const stage = pageTokens({
  seal: async (position, holder) => `${holder}: ${position}`,
  open: async (token, holder) => (token.startsWith(`${holder}: `) ? token.slice(holder.length + 2) : undefined),
});

describe("a list operation", () => {
  test("gets the position in the request's page token, and its own position is sealed into the response's token", async () => {
    const request = requestOf(listPatients, { pageSize: 7, pageToken: `${HOLDER}: here` });
    const output = create(listPatients.output, { nextPageToken: "there" });
    const { passed, response } = await run(stage, request, output);
    expect(passed.map(({ message }) => message)).toEqual([
      create(listPatients.input, { pageSize: 7, pageToken: "here" }),
    ]);
    expect(response.message).toEqual(create(listPatients.output, { nextPageToken: `${HOLDER}: there` }));
    expect(request.message).toMatchObject({ pageToken: `${HOLDER}: here` });
  });

  test("has a first page without a token, and a last page without a next token", async () => {
    for (const message of [{}, { pageToken: "" }]) {
      const { passed, response } = await run(stage, requestOf(listPatients, message));
      expect(passed.map((each) => each.message)).toEqual([create(listPatients.input, message)]);
      expect(response.message).toEqual(create(listPatients.output));
    }
  });

  test.each(["here", "?", "cupo.clinic.v1.DeskService/ListCases x  : here"])("rejects %s", async (pageToken) => {
    const error = await refusal(run(stage, requestOf(listPatients, { pageToken })));
    expect(error.errors).toEqual([expect.objectContaining({ field: "pageToken", code: "INVALID_VALUE" })]);
  });

  test.each([{ tenantId: "another" }, { organizationId: "another" }, { companyId: "another" }, { id: "another" }])(
    "rejects the token of a caller that differs in %o",
    async (principal) => {
      const request = { pageToken: `${HOLDER}: here` };
      const error = await refusal(run(stage, requestOf(listPatients, request, callWith({ principal }))));
      expect(error.code).toBe("VALIDATION_FAILED");
    },
  );
});

test.each<[string, DescMethod]>([
  ["without a token in the response", { ...listPatients, output: registerPatient.output }],
  ["without a token in the request", { ...listPatients, input: registerPatient.input }],
  ["that streams", { ...watchEvents, input: listPatients.input, output: listPatients.output }],
])("an operation %s has no pages", (_, method) => {
  expect(stage(method)).toBeUndefined();
});

test("other operations are not changed", async () => {
  const request = requestOf(registerPatient, { fullName: "Ana" });
  const { passed } = await run(stage, request);
  expect(passed).toEqual([request]);
});
