import type { DescMethod } from "@bufbuild/protobuf";
import { restRoutes } from "@cupo/connect-rest";
import { describe, expect, test } from "vitest";
import { errorTable } from "../../src/errors.js";
import { CLINIC_BASE_PATH, isPublished, operationName, operationOf, takesIdempotencyKey } from "../../src/operation.js";
import { fieldCodes } from "../../src/problems/field-codes.js";
import { type CodesByProblem, codesOf } from "../../src/problems/operation-codes.js";
import { servedServices } from "../../src/services/services.js";
import { type Members, operations, resources } from "../contract/specification.js";
import { type DocumentName, openApiDocuments } from "../support/openapi-documents.js";

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly security: unknown;
  readonly parameters: readonly { readonly $ref?: string; readonly name?: string }[];
  readonly requestBody: { readonly content: Content };
  readonly "x-connect"?: string;
  readonly responses: Readonly<Record<string, { readonly content: Content; readonly $ref?: string }>>;
  readonly "x-preview"?: boolean;
  readonly "x-error-codes": CodesByProblem;
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly examples?: object }>>;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, { readonly content: Content }>>;
  };
}

const documents = openApiDocuments() as unknown as Readonly<Record<DocumentName, Document>>;
const methods = servedServices.flatMap(({ service }) => service.methods);

describe("the document of the REST interface", () => {
  const { paths } = documents.rest;
  const described = new Map<string, Operation>(
    Object.entries(paths).flatMap(([path, byMethod]) =>
      Object.entries(byMethod).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    ),
  );

  test("has exactly the operations of the specification", () => {
    expect([...described.keys()].toSorted()).toEqual(Object.keys(operations).toSorted());
  });

  test.each(Object.entries(operations))(
    "%s has the statuses of its row, each error as a Problem with an example",
    (name, row) => {
      const responses = described.get(name)?.responses ?? {};
      expect(Object.keys(responses)).toEqual([...[row.success, ...row.errors].map(String), "default"]);
      for (const [status, { content }] of Object.entries(responses).filter(([key]) => key !== String(row.success))) {
        expect([status, Object.keys(content)]).toEqual([status, ["application/problem+json"]]);
        expect(Object.keys(content["application/problem+json"]?.examples ?? {})).not.toEqual([]);
      }
    },
  );

  test.each(Object.entries(operations))("%s accepts exactly the members of the specification", (name, { body }) => {
    const schema = resolve("rest", described.get(name)?.requestBody.content["application/json"]?.schema);
    expect(membersOf("rest", schema)).toEqual(written(body));
    expect(schema.additionalProperties).toBe(false);
  });

  test.each(Object.entries(operations))("%s returns the members of its resource", (name, { success, response }) => {
    const schema = resolve("rest", described.get(name)?.responses[success]?.content["application/json"]?.schema);
    const { reasons, documentNumber, ...members } = written(resources[response] ?? {});
    expect(membersOf("rest", schema)).toEqual({
      ...members,
      ...(reasons === undefined ? {} : { reasons: "object[]" }),
      ...(documentNumber === undefined ? {} : { documentNumber: "string?" }),
    });
  });
});

describe("the document of the internal operations", () => {
  const described = Object.entries(documents.internal.paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({ path, method, operation })),
  );

  test("has the clinic's operations over REST, each with its path over Connect, and the published ones over Connect", () => {
    const overRest = methods.filter(({ parent }) => !isPublished(parent));
    const routes = restRoutes(CLINIC_BASE_PATH, [...new Set(overRest.map(({ parent }) => parent))]);
    const [ofClinic, published] = [true, false].map((isRest) =>
      described.filter(({ path }) => path.startsWith(`${CLINIC_BASE_PATH}/`) === isRest),
    );
    const connectPaths = routes.map(({ method }) => `POST /${operationName(method)}`);
    expect(ofClinic?.map(({ operation }) => operation["x-connect"]).toSorted()).toEqual(connectPaths.toSorted());
    expect(new Set(ofClinic?.map(({ operation }) => methodOf(operation)))).toEqual(new Set(overRest));
    const overConnect = methods.filter(({ parent }) => isPublished(parent));
    expect(published?.map(({ path, method }) => `${method} ${path}`)).toEqual(
      overConnect.map((method) => `post /${operationName(method)}`),
    );
  });

  test("gives the errors of an operation over REST as Problems, and those over Connect as Connect errors", () => {
    const errors = described.flatMap(({ path, operation }) =>
      Object.entries(operation.responses).flatMap(([status, response]) => {
        const { $ref = "" } = response;
        const [mediaType] = Object.keys(documents.internal.components.responses[$ref.slice(23)]?.content ?? {});
        return /^[23]/.test(status) || status === "415" ? [] : [{ isRest: path.startsWith("/api/"), mediaType }];
      }),
    );
    const wrong = errors.filter(
      ({ isRest, mediaType }) => mediaType !== (isRest ? "application/problem+json" : "application/json"),
    );
    expect([errors.length > 500, wrong]).toEqual([true, []]);
  });
});

describe.each(["rest", "internal", "connect"] as const)("every operation of the document %s", (document) => {
  const all = Object.values(documents[document].paths).flatMap((byMethod) => Object.values(byMethod));

  test("has a unique name", () => {
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length);
  });

  test("states the scope it requires", () => {
    const wrong = all.filter((operation) => {
      const { scope } = operationOf(methodOf(operation));
      const security = [{ oauth2: [scope] }, { accessToken: [] }];
      return (
        JSON.stringify(operation.security) !== JSON.stringify(security) ||
        !operation.description.includes(`\`${scope}\``)
      );
    });
    expect(wrong.map(({ operationId }) => operationId)).toEqual([]);
  });

  test("is marked as a preview exactly if it is one", () => {
    const wrong = all.filter((operation) => {
      const { preview } = operationOf(methodOf(operation));
      return [operation.summary.startsWith("Preview: "), operation["x-preview"] === true].some(
        (label) => label !== preview,
      );
    });
    expect(wrong.map(({ operationId }) => operationId)).toEqual([]);
  });

  test("describes an Idempotency-Key exactly if it requires one", () => {
    const wrong = all.filter((operation) => {
      const takes = operation.parameters.some(({ $ref }) => $ref === "#/components/parameters/Idempotency-Key");
      const tells = operation.description.includes("send a new `Idempotency-Key`");
      return [takes, tells].some((each) => each !== takesIdempotencyKey(methodOf(operation)));
    });
    expect(wrong.map(({ operationId }) => operationId)).toEqual([]);
  });

  test("lists its error codes", () => {
    const listed = all.map(({ operationId, "x-error-codes": codes }) => [operationId, codes]);
    expect(listed).toEqual(all.map((operation) => [operation.operationId, codesOf(methodOf(operation))]));
  });

  test("explains versions if it accepts one", () => {
    const wrong = all.filter((operation) => {
      const isVersioned = methodOf(operation).input.fields.some(({ name }) => name === "expected_version");
      return operation.description.includes("STALE_VERSION") !== isVersioned;
    });
    expect(wrong.map(({ operationId }) => operationId)).toEqual([]);
  });
});

test.each(["rest", "internal"] as const)("the document %s lists each error code as an open enumeration", (document) => {
  const { schemas } = documents[document].components;
  const [problem, item] = [schemas["Problem"], schemas["ProblemFieldError"]];
  expect(problem?.properties?.["code"]).toMatchObject({ type: "string", "x-extensible-enum": Object.keys(errorTable) });
  expect(item?.properties?.["code"]).toMatchObject({ "x-extensible-enum": Object.keys(fieldCodes) });
  expect(JSON.stringify([problem, item])).not.toContain('"enum"');
});

function methodOf({ operationId }: Operation): DescMethod {
  const method = methods.find(({ localName }) => localName === operationId);
  if (method === undefined) throw new Error(`there is no RPC ${operationId}`);
  return method;
}

/** Returns the members with their types, in the terms of the specification. */
function membersOf(document: DocumentName, { properties = {}, required = [] }: Schema): Members {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      typeOf(document, schema) + (required.includes(name) ? "" : "?"),
    ]),
  );
}

function typeOf(document: DocumentName, schema: Schema): string {
  const { type = "", format, enum: values, items } = resolve(document, schema);
  if (items !== undefined) return `${typeOf(document, items)}[]`;
  if (values !== undefined) return values.join("|");
  return type === "string" ? (format ?? "string") : type;
}

function resolve(document: DocumentName, schema: Schema = {}): Schema {
  const name = schema.$ref?.replace("#/components/schemas/", "");
  return name === undefined ? schema : (documents[document].components.schemas[name] ?? {});
}

/** Adapts the specification's types to JSON Schema, which has no format for its time of day. */
function written(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, type]) => [
      name,
      type.replace("time", "string").replace("date-string", "date-time"),
    ]),
  );
}
