import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import type { RequestExample, RequestExamples } from "./examples/request-example.js";

/** Returns the examples of a method in order of declaration. The tests ensure that every operation has one. */
export function examplesOf(method: DescMethod, examples: RequestExamples): RequestExample[] {
  const found = Object.entries(examples).filter(([name]) => name.split(" ")[0] === method.name);
  return found.map(([, example]) => example);
}

/**
 * Returns the examples of a request body as OpenAPI describes them. `isInBody` selects the members of the request that
 * are in the body.
 */
export function bodyExamples(examples: readonly RequestExample[], isInBody: (member: string) => boolean): JsonObject {
  const described = examples.map(({ request, ...example }, index) => {
    const value = Object.fromEntries(Object.entries(request).filter(([member]) => isInBody(member)));
    return [
      index === 0 ? "demo" : `demo${index + 1}`,
      { summary: "In the demo tenant", ...descriptionOf(example), value },
    ];
  });
  return Object.fromEntries(described);
}

function descriptionOf({ taken = {}, note }: Omit<RequestExample, "request">): JsonObject {
  const sources = Object.entries(taken).map(
    ([member, source]) => `\`${member}\` from \`${source.member}\` of the answer to ${source.example.split(" ")[0]}`,
  );
  const sentences = [
    ...(sources.length === 0 ? [] : [`First take ${sources.join(", and ")}.`]),
    ...(note === undefined ? [] : [note]),
  ];
  return { description: sentences.length === 0 ? "Succeeds without changes." : sentences.join(" ") };
}
