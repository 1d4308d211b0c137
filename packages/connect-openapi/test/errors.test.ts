import { Code, ConnectError } from "@connectrpc/connect";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { connectErrors, type DescribeErrors, googleRpcStatusErrors, problemErrors } from "../src/index.js";
import { museumRoutes } from "./support/museum-routes.js";
import { documentOf, lint } from "./support/parsed-document.js";

/** Each body as its server writes it. */
const bodies: readonly [string, DescribeErrors, string, unknown][] = [
  [
    "problemErrors",
    problemErrors(),
    "Problem",
    {
      type: "about:blank",
      title: "Bad Request",
      status: 400,
      detail: "The body does not match the schema of this operation's request.",
      code: "INVALID_ARGUMENT",
      reason: "INVALID",
      details: [{ "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId: "1" }],
      errors: [{ code: "REQUIRED", field: "exhibit.title", message: "the value is required" }],
    },
  ],
  [
    "googleRpcStatusErrors",
    googleRpcStatusErrors(),
    "ErrorStatus",
    {
      error: {
        code: 404,
        message: "No resource exists at this path.",
        status: "NOT_FOUND",
        details: [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [] }],
      },
    },
  ],
  [
    "connectErrors",
    connectErrors(),
    "ConnectError",
    errorToJson(new ConnectError("gone", Code.NotFound, undefined, [{ desc: detailType(), value: {} }]), undefined),
  ],
];

describe.each(bodies)("%s", (_, errors, name, body) => {
  const document = documentOf(museumRoutes, { errors });

  test("makes a document that follows all recommended rules of Redocly", async () => {
    expect(await lint(document)).toEqual([]);
  });

  test("accepts the body of an error, and not another", () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema(document, "document");
    const validate = ajv.compile({ $ref: `document#/components/schemas/${name}` });
    expect([validate(body), validate.errors]).toEqual([true, null]);
    expect(validate({ message: "no" })).toBe(false);
  });
});

test("a caller's own errors are described per route, and may refer to messages", () => {
  const [first] = museumRoutes;
  const document = documentOf([first], {
    errors: (refer) => ({
      responses: ({ method }) => ({ 404: { description: `${method.name} finds nothing.` } }),
      components: { schemas: { Mine: { anyOf: [refer(first.method.output, "error")] } } },
    }),
  });
  expect(document.paths["/v1/rooms/{room}/exhibits/{exhibit}"]?.["get"]?.responses["404"]).toEqual({
    description: "GetExhibit finds nothing.",
  });
  expect(document.components.schemas["Mine"]).toEqual({ anyOf: [{ $ref: "#/components/schemas/ExhibitError" }] });
});

function detailType() {
  return museumRoutes[0].method.input;
}
