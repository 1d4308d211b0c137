import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { pageTokens } from "../../src/interceptors/page-tokens.js";
import { callWith, refusal, requestOf, run, tenantId } from "./run-interceptor.js";

const { listPatients } = PatientDirectoryService.method;
const { registerPatient } = PatientService.method;
const LIST = "cupo.clinic.v1.PatientDirectoryService/ListPatients";

/** A seal that anybody can read. */
const stage = pageTokens({
  seal: async (place, holder) => `${holder}: ${place}`,
  open: async (token, holder) => (token.startsWith(`${holder}: `) ? token.slice(holder.length + 2) : undefined),
});

describe("a list", () => {
  test("is told where the page before ended, and its caller where this one does, in tokens", async () => {
    const request = requestOf(listPatients, { pageSize: 7, pageToken: `${LIST} ${tenantId}  : here` });
    const output = create(listPatients.output, { nextPageToken: "there" });
    const { passed, response } = await run(stage, request, output);
    expect(passed.map(({ message }) => message)).toEqual([
      create(listPatients.input, { pageSize: 7, pageToken: "here" }),
    ]);
    expect(response.message).toEqual(create(listPatients.output, { nextPageToken: `${LIST} ${tenantId}  : there` }));
    expect(request.message).toMatchObject({ pageToken: `${LIST} ${tenantId}  : here` });
  });

  test("has a first page without a token, and a last one", async () => {
    for (const message of [{}, { pageToken: "" }]) {
      const { passed, response } = await run(stage, requestOf(listPatients, message));
      expect(passed.map((each) => each.message)).toEqual([create(listPatients.input, message)]);
      expect(response.message).toEqual(create(listPatients.output));
    }
  });

  test.each(["here", "?", "cupo.clinic.v1.DeskService/ListCases x  : here"])("refuses %s", async (pageToken) => {
    const error = await refusal(run(stage, requestOf(listPatients, { pageToken })));
    expect(error.errors).toEqual([expect.objectContaining({ field: "pageToken", code: "INVALID_VALUE" })]);
  });

  test.each([{ tenantId: "another" }, { organizationId: "another" }, { companyId: "another" }])(
    "refuses the token of a caller that differs in %o",
    async (principal) => {
      const request = { pageToken: `${LIST} ${tenantId}  : here` };
      const error = await refusal(run(stage, requestOf(listPatients, request, callWith({ principal }))));
      expect(error.code).toBe("VALIDATION_FAILED");
    },
  );
});

test("what is no list passes as it is", async () => {
  const request = requestOf(registerPatient, { fullName: "Ana" });
  const { passed } = await run(stage, request);
  expect(passed).toEqual([request]);
});
