import { randomUUID } from "node:crypto";
import { type Client, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { SchedulingConfigurationService } from "../../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { createProgram } from "../contract/fixtures.js";
import { shareTestService, type TestService } from "../support/service.js";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("an error with many items", () => {
  test.each([
    ["invalid UUIDs", Array.from({ length: 500 }, (_, index) => `x${index}`), "at least 81 more errors are not listed"],
    ["unknown practitioners", Array.from({ length: 500 }, randomUUID), "480 more errors are not listed"],
  ])("fits into 8 KiB of gRPC's trailers: %s", async (_, practitionerIds, others) => {
    const error = await refusalOf(createGrpcTransport({ baseUrl: service.internalUrl }), practitionerIds);
    expect([...error.metadata].join("\n").length).toBeLessThan(8192);
    const [problem] = error.findDetails(ProblemSchema);
    expect(problem?.errors.map(({ field }) => field)).toEqual([
      ...Array.from({ length: 20 }, (_item, index) => `practitionerIds[${index}]`),
      "",
    ]);
    expect(problem?.errors.at(-1)).toMatchObject({ code: "MORE_ERRORS", message: others });
  });

  test.each([
    ["Connect", createConnectTransport],
    ["gRPC-Web", createGrpcWebTransport],
  ])("has a hundred of them over %s, whose errors are in the body", async (_, transport) => {
    const ids = Array.from({ length: 500 }, randomUUID);
    const error = await refusalOf(transport({ baseUrl: service.internalUrl, httpVersion: "2" }), ids);
    expect(error.findDetails(ProblemSchema)[0]?.errors).toHaveLength(101);
  });
});

/** Tries to replace the practitioners of a new program. Returns the error. */
async function refusalOf(transport: Transport, practitionerIds: readonly string[]): Promise<ConnectError> {
  const client: Client<typeof SchedulingConfigurationService> = createClient(SchedulingConfigurationService, transport);
  const headers = { authorization: `Bearer ${await service.token()}`, "idempotency-key": randomUUID() };
  const request = {
    programId: await createProgram(service),
    practitionerIds: [...practitionerIds],
    expectedVersion: 1,
  };
  return client.replaceProgramPractitioners(request, { headers }).then(
    () => expect.fail("the call succeeded"),
    (error: unknown) => ConnectError.from(error),
  );
}
