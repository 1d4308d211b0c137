import { type DescMethodUnary, fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { redaction } from "../../src/interceptors/redaction.js";
import type { Stage } from "../../src/interceptors/stage.js";
import { describeTreeService } from "./described-service.js";
import { callWith, requestOf, run } from "./run-interceptor.js";

const { registerPatient } = PatientService.method;

describe("a patient", () => {
  const patient = {
    id: "018f",
    documentType: "CC",
    documentNumber: "52.123.456",
    fullName: "Ana María Pérez",
    phone: "+57 300 555 0100",
    email: "ana@example.com",
    status: "ACTIVE",
    version: 1,
  };

  test("is shown without its document number", async () => {
    const { documentNumber: _, ...rest } = patient;
    expect(await seenWith({ patient }, "patients:write", "patients:read", "document:read")).toEqual({ patient: rest });
  });

  test("is shown completely with the scope", async () => {
    expect(await seenWith({ patient }, "patients:document:read")).toEqual({ patient });
  });

  test("may be absent", async () => {
    expect(await seenWith({})).toEqual({});
  });

  function seenWith(response: JsonObject, ...scopes: string[]) {
    return redacted(redaction(), registerPatient, response, scopes);
  }
});

describe("fields that need a scope", () => {
  const { method } = describeTreeService();
  const leaf = { plain: "p", secret: "s", secrets: ["s1", "s2"] };
  const tree = {
    ...leaf,
    child: { ...leaf, child: leaf },
    branches: [{ tree: leaf, words: { a: "b" } }, {}, { tree: { ...leaf, branches: [{ tree: leaf }] } }],
    named: { one: leaf, two: { ...leaf, named: { three: leaf } } },
  };

  test("are removed at any depth: in messages, lists, maps and recursive messages", async () => {
    expect(await seenWith()).toEqual(withLeaf(tree, { plain: "p" }));
  });

  test("are checked one by one", async () => {
    expect(await seenWith("secret:read")).toEqual(withLeaf(tree, { plain: "p", secret: "s" }));
    expect(await seenWith("secrets:read")).toEqual(withLeaf(tree, { plain: "p", secrets: ["s1", "s2"] }));
    expect(await seenWith("secret:read", "secrets:read")).toEqual(tree);
  });

  function seenWith(...scopes: string[]) {
    return redacted(redaction(), method, tree, scopes);
  }

  /** Replaces the fields of each leaf in the tree. */
  function withLeaf(value: JsonObject, seen: JsonObject): JsonObject {
    return JSON.parse(
      JSON.stringify(value).replaceAll(JSON.stringify(leaf).slice(1, -1), JSON.stringify(seen).slice(1, -1)),
    );
  }
});

test("uses the scopes of each request, with one stage for all", async () => {
  const stage = redaction();
  const patient = { documentNumber: "52.123.456" };
  const seenWith = (...scopes: string[]) => redacted(stage, registerPatient, { patient }, scopes);
  expect(await seenWith()).toEqual({ patient: {} });
  expect(await seenWith("patients:document:read")).toEqual({ patient });
  expect(await seenWith()).toEqual({ patient: {} });
});

/** Returns the part of a response that a principal with these scopes sees. */
async function redacted(
  stage: Stage,
  method: DescMethodUnary,
  response: JsonObject,
  scopes: readonly string[],
): Promise<JsonValue> {
  const call = callWith({ principal: { scopes: new Set(scopes) } });
  const ran = await run(stage, requestOf(method, {}, call), fromJson(method.output, response));
  return toJson(method.output, ran.response.message);
}
