import { randomUUID } from "node:crypto";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { bodiesOfTheWrongShape, bodiesThatAreNoJson } from "../hostile/bad-bodies.js";
import { BASE, MARKER } from "../hostile/change.js";
import { type RawRequest, sendRaw } from "../support/raw-request.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { shareTestService, type TestService } from "../support/service.js";

const SERVICE = "/cupo.access.v1.PatientService";
const groups = { bodiesThatAreNoJson, bodiesOfTheWrongShape };

let service: TestService;
let token: string;

beforeAll(async () => {
  service = await shareTestService();
  token = await service.token();
});

afterAll(() => service.close());

describe.each(Object.entries(groups))("the JSON of Connect is read as that of REST: %s", (_, rows) => {
  for (const [name, status, change] of rows) {
    test(`${name}: the Problem of ${status}`, async () => {
      const overRest = change(goodRequest());
      const [rest, rpc] = [
        await sendRaw(service.publicUrl, overRest),
        await sendRaw(service.internalUrl, asRpc(overRest)),
      ];
      expect(rest.status).toBe(status);
      expect(problemIn(rpc)).toEqual(rest.body);
      expect(rpc.text).not.toContain(MARKER);
    });
  }
});

test("a path parameter is a member of the body, and 400 if it is invalid", async () => {
  const update = { patientId: 5, fullName: null, phone: "12345", expectedVersion: "1" };
  const rpc = await sendRaw(service.internalUrl, {
    ...asRpc(goodRequest()),
    target: `${SERVICE}/UpdatePatient`,
    body: JSON.stringify(update),
  });
  expect(problemIn(rpc)).toMatchObject({ status: 400, errors: [{ code: "INVALID_TYPE", field: "patientId" }] });
});

test("the members of a mask are field names in lowerCamelCase", async () => {
  const update = { patientId: randomUUID(), fullName: "Ana", phone: "12345", expectedVersion: 1 };
  const send = (updateMask: unknown) =>
    sendRaw(service.internalUrl, {
      ...asRpc(goodRequest()),
      target: `${SERVICE}/UpdatePatient`,
      body: JSON.stringify({ ...update, updateMask }),
    });
  expect(problemIn(await send("full_name"))).toMatchObject({
    errors: [{ code: "INVALID_FORMAT", field: "updateMask" }],
  });
  expect(problemIn(await send({ paths: ["full_name"] }))).toMatchObject({
    errors: [{ code: "INVALID_TYPE", field: "updateMask" }],
  });
  expect(problemIn(await send("fullName,phone"))).toMatchObject({ status: 404 });
});

function goodRequest(): RawRequest {
  return {
    method: "POST",
    target: `${BASE}/patients`,
    version: "HTTP/1.1",
    headers: [
      ["Host", "localhost"],
      ["Authorization", `Bearer ${token}`],
      ["Content-Type", "application/json"],
      ["Idempotency-Key", randomUUID()],
      ["X-Correlation-Id", randomUUID()],
    ],
    body: JSON.stringify(registration({ fullName: MARKER })),
  };
}

/** Converts a REST request to a Connect call. The id in the path becomes a member of the body. */
function asRpc(request: RawRequest): RawRequest {
  const target = `${SERVICE}/${request.method === "POST" ? "RegisterPatient" : "UpdatePatient"}`;
  const id = /patients\/(.+)$/.exec(request.target)?.[1];
  const body = id === undefined ? request.body : String(request.body).replace("{", `{"patientId":"${id}",`);
  return { ...request, method: "POST", target, body };
}

/** Returns the Problem in the details of a Connect error. */
function problemIn({ body }: RestAnswer): unknown {
  const [detail] = (body["details"] ?? []) as { readonly type: string; readonly value: string }[];
  expect(detail?.type).toBe("cupo.access.v1.Problem");
  return toJson(ProblemSchema, fromBinary(ProblemSchema, Buffer.from(detail?.value ?? "", "base64")));
}
