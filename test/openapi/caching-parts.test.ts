import { describe, expect, test } from "vitest";
import { hasEntityTag } from "../../src/operation.js";
import { servedServices } from "../../src/services/services.js";
import { openApiDocuments } from "../support/openapi-documents.js";

interface Operation {
  readonly parameters: readonly { readonly name?: string }[];
  readonly responses: Readonly<Record<string, { readonly headers?: object; readonly content?: object }>>;
}

const { internal, rest } = openApiDocuments();
const operations = new Map(
  Object.values(internal["paths"] as unknown as Record<string, Record<string, Operation & { operationId: string }>>)
    .flatMap((byMethod) => Object.values(byMethod))
    .map((operation) => [operation.operationId, operation]),
);

describe("the document of the clinic's operations over REST", () => {
  const tagged = servedServices.flatMap(({ service }) => service.methods.filter(hasEntityTag));

  test.each(tagged.map(({ localName }) => localName))("says that %s has an ETag and can be 304", (name) => {
    const operation = operations.get(name);
    expect(operation?.parameters.map((each) => each.name)).toContain("If-None-Match");
    expect(operation?.responses["200"]?.headers).toHaveProperty("ETag");
    expect(operation?.responses["304"]?.headers).toHaveProperty("ETag");
    expect(operation?.responses["304"]).not.toHaveProperty("content");
  });

  test("says that a watch continues after Last-Event-ID", () => {
    expect(operations.get("watchEvents")?.parameters.map(({ name }) => name)).toContain("Last-Event-ID");
  });

  test("says nothing of it for other operations, and for the published ones", () => {
    for (const text of [JSON.stringify(rest), JSON.stringify(operations.get("listLocations"))]) {
      expect(text).not.toMatch(/ETag|If-None-Match|Last-Event-ID|"304"/);
    }
  });
});
