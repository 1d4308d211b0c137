import { beforeAll, describe, expect, test } from "vitest";
import {
  connectRoutes,
  definitionName,
  type OpenApiRoute,
  openApiDocument,
  problemErrors,
  sourceComments,
} from "../src/index.js";
import { ExhibitSchema, MuseumService } from "./gen/museum/v1/museum_pb.js";
import { buildImage } from "./support/build-image.js";
import { makeRoute } from "./support/make-route.js";
import { museumRoutes } from "./support/museum-routes.js";
import { documentOf, info, lint, type ParsedDocument } from "./support/parsed-document.js";

const { method } = MuseumService;
const [getExhibit] = museumRoutes;

describe("a document of routes and nothing else", () => {
  const document = documentOf(museumRoutes);
  const operations = Object.values(document.paths).flatMap((byMethod) => Object.values(byMethod));

  test("follows all recommended rules of Redocly", async () => {
    expect(await lint(document)).toEqual([]);
  });

  test("is OpenAPI 3.1, without security", () => {
    expect([document.openapi, document.security, document.servers]).toEqual(["3.1.1", [], [{ url: "/" }]]);
  });

  test("has an operation for each route, each with its own name", () => {
    expect(operations).toHaveLength(museumRoutes.length);
    expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual([
      "createExhibit",
      "deleteExhibit",
      "downloadFile",
      "echoKinds",
      "getExhibit",
      "getExhibit_2",
      "listExhibits",
      "renameExhibit",
      "renameExhibit_2",
      "updateExhibit",
      "uploadFile",
      "watchExhibits",
    ]);
  });

  test("names operations in words, and their service as the tag", () => {
    expect(operations[0]).toMatchObject({ summary: "Get exhibit", tags: ["MuseumService"] });
  });

  test("describes errors as Problems", () => {
    const { responses } = document.paths["/v1/kinds"]?.["post"] ?? {};
    expect(Object.keys(responses ?? {})).toEqual(["200", "400", "default"]);
    expect(document.components["responses"]?.["InvalidRequest"]).toEqual({
      description: "The request cannot be read, or it violates the contract.",
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
    });
  });

  test("marks a deprecated method", () => {
    const { deprecated } = document.paths["/v1/rooms/{room}/exhibits/{exhibit}"]?.["delete"] ?? {};
    expect(deprecated).toBe(true);
  });
});

describe("the body", () => {
  const schemaOf = (route: OpenApiRoute) => {
    const document = documentOf([route]);
    const [operation] = Object.values(document.paths).flatMap((byMethod) => Object.values(byMethod));
    return { document, content: operation?.requestBody?.content, success: operation?.responses["200"]?.["content"] };
  };

  test("is the message without the fields of the path, at any depth", () => {
    const { document } = schemaOf(makeRoute(method.renameExhibit, "POST /v1/{exhibit.name}", { body: "*" }));
    const { schemas } = document.components;
    expect(Object.keys(schemas["RenameExhibitRequest"]?.properties ?? {})).toEqual(["exhibit"]);
    expect(Object.keys(schemas["ExhibitInput"]?.properties ?? {})).not.toContain("name");
    expect(Object.keys(schemas["Exhibit"]?.properties ?? {})).toContain("name");
  });

  test("of a PATCH has no update mask, which the server fills", () => {
    const patch = makeRoute(method.updateExhibit, "PATCH /v1/{room}/{id}", { body: "*" });
    const members = ({ document }: { readonly document: ParsedDocument }) =>
      Object.keys(document.components.schemas["UpdateExhibitRequest"]?.properties ?? {});
    expect(members(schemaOf(patch))).toEqual(["title"]);
    expect(members(schemaOf({ ...patch, httpMethod: "POST" }))).toEqual(["title", "updateMask"]);
  });

  test("is one field", () => {
    const { content } = schemaOf(makeRoute(method.listExhibits, "POST /v1/lists", { body: "page_size" }));
    expect(content).toEqual({
      "application/json": { schema: { type: "integer", format: "int32", minimum: 1, maximum: 100 } },
    });
  });

  test("is any bytes for google.api.HttpBody", () => {
    const any = { "*/*": { schema: {} } };
    expect(schemaOf(makeRoute(method.uploadFile, "PUT /v1/{path}", { body: "file" })).content).toEqual(any);
    const { success, document } = schemaOf(makeRoute(method.downloadFile, "GET /v1/{path}"));
    expect(success).toEqual(any);
    expect(Object.keys(document.components.schemas)).toEqual(["Problem", "Violation"]);
  });

  test("of a response is the whole message or one field", () => {
    const list = makeRoute(method.listExhibits, "GET /v1/{room}", { responseBody: "exhibits" });
    expect(schemaOf(list).success).toEqual({
      "application/json": { schema: { type: "array", items: { $ref: "#/components/schemas/Exhibit" } } },
    });
  });

  test("of a response can be null if it is one field that can be absent", () => {
    const bodyOf = (responseBody: string) =>
      schemaOf(makeRoute(method.echoKinds, "POST /v1/kinds", { body: "*", responseBody })).success;
    const duration = { type: "string", pattern: "^-?[0-9]+(\\.[0-9]+)?s$" };
    expect(bodyOf("duration")).toEqual({ "application/json": { schema: { anyOf: [duration, { type: "null" }] } } });
    expect(bodyOf("id")).toEqual({ "application/json": { schema: { type: "string" } } });
  });

  test("of a stream is a message per line, or per event", () => {
    expect(schemaOf(makeRoute(method.watchExhibits, "GET /v1/{room}")).success).toMatchObject({
      "application/x-ndjson": {
        schema: { properties: { result: { $ref: "#/components/schemas/Exhibit" }, error: {} } },
      },
      "text/event-stream": { schema: { type: "string" } },
    });
  });
});

describe("what the caller adds to an operation", () => {
  const room = "5a0cb1f6-1d2b-4a8e-9b5d-0f6f6c1f7a11";
  const document = documentOf(museumRoutes, {
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      headers: { "X-Request-Id": { description: "The id of the request.", schema: { type: "string" } } },
    },
    operation: ({ method: { name } }, { summary, description, refer }) => {
      if (name !== "CreateExhibit") return { security: [] };
      return {
        operationId: "addExhibit",
        summary: `${summary}!`,
        description: `${description ?? "No comment"}.`,
        tags: ["Curators"],
        security: [{ token: [] }],
        "x-audience": "curators",
        parameters: [{ name: "X-Reason", in: "header", description: "Why.", schema: { type: "string" } }],
        examples: {
          vase: { summary: "A vase", value: { room, dryRun: true, exhibit: { title: "Vase", tags: ["clay"] } } },
          cup: { value: { room, exhibit: { title: "Cup" } } },
        },
        successStatus: 201,
        responseHeaders: { "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" } },
        responses: {
          409: {
            description: "It exists.",
            content: { "application/json": { schema: refer(ExhibitSchema, "response") } },
          },
        },
      };
    },
  });
  const operation = document.paths["/v1/rooms/{room}/exhibits"]?.["post"];

  test("follows all recommended rules of Redocly", async () => {
    expect(await lint(document)).toEqual([]);
  });

  test("replaces what is generated", () => {
    expect(operation).toMatchObject({
      operationId: "addExhibit",
      summary: "Create exhibit!",
      description: "No comment.",
      tags: ["Curators"],
      security: [{ token: [] }],
      "x-audience": "curators",
    });
    expect(document).not.toHaveProperty("security");
  });

  test("is a parameter after those of the path and the query, which show the first example", () => {
    expect(operation?.parameters?.map(({ name, example }) => [name, example])).toEqual([
      ["room", room],
      ["dryRun", true],
      ["X-Reason", undefined],
    ]);
  });

  test("is an example of the body, without what is in the path and the query", () => {
    expect(operation?.requestBody?.content["application/json"]?.["examples"]).toEqual({
      vase: { summary: "A vase", value: { title: "Vase", tags: ["clay"] } },
      cup: { value: { title: "Cup" } },
    });
  });

  test("is a response, or a header of the answer", () => {
    expect(Object.keys(operation?.responses ?? {})).toEqual(["201", "400", "409", "default"]);
    expect(operation?.responses["201"]?.["headers"]).toEqual({
      "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
    });
    expect(operation?.responses["409"]?.["content"]).toEqual({
      "application/json": { schema: { $ref: "#/components/schemas/Exhibit" } },
    });
  });
});

test("a hook gets the caller's own routes, whatever the type of the errors is", () => {
  const document = openApiDocument({
    routes: [{ ...getExhibit, team: "curators" }],
    info,
    errors: problemErrors(),
    operation: ({ team }) => ({ tags: [team] }),
  });
  expect(document["paths"]).toMatchObject({ "/v1/rooms/{room}/exhibits/{exhibit}": { get: { tags: ["curators"] } } });
});

describe("comments from source info", () => {
  let document: ParsedDocument;

  beforeAll(() => {
    document = documentOf(museumRoutes, { comment: sourceComments(buildImage()) });
  });

  test("are descriptions, with joined lines and the JSON names of fields", () => {
    const { get } = document.paths["/v1/rooms/{room}/exhibits"] ?? {};
    expect(get?.description).toBe(
      "Lists the exhibits of a room, in the order of their acquiredOn.\n\n- Lists pages.\n- Filters by maker.",
    );
    const maker = get?.parameters?.find(({ name }) => name === "filter.maker");
    expect(maker?.["description"]).toBe("Who made the exhibit.");
    expect(document.tags).toEqual([{ name: "MuseumService", description: "Rooms and the exhibits in them." }]);
    const { ExhibitInput, ExhibitCondition } = document.components.schemas;
    expect(ExhibitInput?.description).toBe("One object that the museum shows.");
    expect(ExhibitInput?.properties["title"]?.["description"]).toBe("What the label says.");
    expect(ExhibitCondition?.description).toBe(
      "How well an exhibit is preserved.\n\n- `CONDITION_UNSPECIFIED`: Nobody has looked.\n- `FRAGILE`: It may not be moved.",
    );
  });

  test("keep the document valid", async () => {
    expect(await lint(document)).toEqual([]);
  });

  test("a function of the caller's own gets each definition by its name", () => {
    const { paths } = documentOf([getExhibit], { comment: (definition) => `About ${definitionName(definition)}` });
    expect(paths["/v1/rooms/{room}/exhibits/{exhibit}"]?.["get"]?.description).toBe(
      "About museum.v1.MuseumService.GetExhibit",
    );
  });
});

describe("a document of the Connect protocol", () => {
  const document = documentOf(connectRoutes([MuseumService]));

  test("has a POST for each unary method", () => {
    expect(Object.entries(document.paths).map(([path, item]) => [path, Object.keys(item)])).toEqual(
      MuseumService.methods
        .filter(({ methodKind }) => methodKind === "unary")
        .map(({ name }) => [`/museum.v1.MuseumService/${name}`, ["post"]]),
    );
  });

  test("follows all recommended rules of Redocly", async () => {
    expect(await lint(document)).toEqual([]);
  });
});
