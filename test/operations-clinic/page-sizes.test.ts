import { randomUUID } from "node:crypto";
import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { servedServices } from "../../src/services/services.js";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { itemsIn } from "./rpc-under-test.js";

const { listPatients } = PatientDirectoryService.method;
const lists = servedServices.flatMap(({ service }) => service.methods).filter(isList);

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

test("there are lists", () => {
  expect(lists.map(({ name }) => name)).toEqual(expect.arrayContaining(["ListPatients", "ListAppointments"]));
});

describe.each(lists)("the pages of $name", (list) => {
  test.each([0, 200, 201, 2_147_483_647])("can have the size %i", async (pageSize) => {
    expect(sizeErrors(await callRpc(service, list, { pageSize }))).toEqual([]);
  });

  test("cannot have a negative size", async () => {
    expect(sizeErrors(await callRpc(service, list, { pageSize: -1 }))).toEqual(["pageSize OUT_OF_RANGE"]);
  });
});

test("have at most 200 items, and 50 if the size is absent or 0", async () => {
  const as = { tenantId: randomUUID() };
  await service.query(manyPatients(as.tenantId, 201));
  for (const [pageSize, size] of [
    [201, 200],
    [2_147_483_647, 200],
    [200, 200],
    [0, 50],
  ] as const) {
    const answer = await callRpc(service, listPatients, { pageSize }, { as });
    expect(itemsIn(answer, "patients"), `${pageSize}`).toHaveLength(size);
    expect(answer.body).toHaveProperty("nextPageToken");
  }
  expect(itemsIn(await callRpc(service, listPatients, {}, { as }), "patients")).toHaveLength(50);
});

function isList(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary" && "pageSize" in method.input.field;
}

function sizeErrors(answer: RestAnswer): string[] {
  return itemsOf(answer).filter((item) => item.startsWith("pageSize"));
}

function manyPatients(tenantId: string, count: number): string {
  return `INSERT INTO patients (tenant_id, id, document_type, document_number, document_type_key, document_number_key,
      full_name, phone)
    SELECT '${tenantId}', gen_random_uuid(), 'CC', n::text, 'CC', n::text, 'Ana María Pérez', '+57 300 555 0100'
    FROM generate_series(1, ${count}) AS n`;
}
