import type { DescMethod } from "@bufbuild/protobuf";
import type { OperationParts } from "@cupo/connect-openapi";
import type { RequestExample, RequestExamples } from "./examples/request-example.js";

/** Returns the examples of a method as OpenAPI documents show them. */
export function documentExamples(method: DescMethod, examples: RequestExamples): OperationParts["examples"] {
  const described = examplesOf(method, examples).map(({ request, ...example }, index) => {
    const name = index === 0 ? "demo" : `demo${index + 1}`;
    return [name, { summary: "In the demo tenant", ...descriptionOf(example), value: request }] as const;
  });
  return Object.fromEntries(described);
}

/** In order of declaration. The tests ensure that every operation has one. */
function examplesOf(method: DescMethod, examples: RequestExamples): RequestExample[] {
  const found = Object.entries(examples).filter(([name]) => name.split(" ")[0] === method.name);
  return found.map(([, example]) => example);
}

function descriptionOf({ taken = {}, note }: Omit<RequestExample, "request">): { description: string } {
  const sources = Object.entries(taken).map(
    ([member, source]) => `\`${member}\` from \`${source.member}\` of the answer to ${source.example.split(" ")[0]}`,
  );
  const sentences = [
    ...(sources.length === 0 ? [] : [`First take ${sources.join(", and ")}.`]),
    ...(note === undefined ? [] : [note]),
  ];
  return { description: sentences.length === 0 ? "Succeeds without changes." : sentences.join(" ") };
}
