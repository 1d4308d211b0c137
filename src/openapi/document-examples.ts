import type { DescMethod } from "@bufbuild/protobuf";
import type { OperationParts } from "@cupo/connect-openapi";
import type { Route } from "@cupo/connect-rest";
import type { RequestExample, RequestExamples, Source } from "./examples/request-example.js";

/**
 * Maps the name of a method to the JSON name of a member of its response message, such as `appointment`. Over REST,
 * this member is the whole body of the response.
 */
export type AnswerMembers = ReadonlyMap<string, string>;

const UNCHANGED = "Succeeds without changes.";

/** Returns the JSON name of the `response_body` field of each route that has one, by the name of the method. */
export function answerMembers(routes: readonly Route[]): AnswerMembers {
  return new Map(
    routes.flatMap(({ method, responseBody }) =>
      responseBody === undefined ? [] : [[method.name, responseBody.jsonName] as const],
    ),
  );
}

/**
 * Returns the examples of a method for an OpenAPI document. If a request needs a value from the answer of another
 * method, the description of the example states the path of this value, such as `appointment.appointmentId`.
 *
 * Over REST, the body of an answer can be one member of the response message. `members` names this member for each such
 * method, for example `appointment`. The path is then `appointmentId`.
 */
export function documentExamples(
  method: DescMethod,
  examples: RequestExamples,
  members: AnswerMembers = new Map(),
): OperationParts["examples"] {
  const described = examplesOf(method, examples).map(({ request, ...example }, index) => {
    const name = index === 0 ? "demo" : `demo${index + 1}`;
    return [
      name,
      { summary: "In the demo tenant", description: descriptionOf(example, members), value: request },
    ] as const;
  });
  return Object.fromEntries(described);
}

/**
 * Returns the description of the method's first example: the request values that the caller must take from answers of
 * other methods, then the note of the example. Returns undefined if there is no example, or if the first example has
 * neither such values nor a note.
 */
export function exampleNote(method: DescMethod, examples: RequestExamples, members: AnswerMembers): string | undefined {
  const [first] = examplesOf(method, examples);
  const description = first === undefined ? UNCHANGED : descriptionOf(first, members);
  return description === UNCHANGED ? undefined : description;
}

/**
 * Returns the examples of a method in the order of their declaration. Tests ensure that every operation has an example.
 */
function examplesOf(method: DescMethod, examples: RequestExamples): RequestExample[] {
  const found = Object.entries(examples).filter(([name]) => name.split(" ")[0] === method.name);
  return found.map(([, example]) => example);
}

function descriptionOf({ taken = {}, note }: Omit<RequestExample, "request">, members: AnswerMembers): string {
  const sources = Object.entries(taken).map(
    ([member, source]) =>
      `\`${member}\` from \`${memberOf(source, members)}\` of the answer to ${source.example.split(" ")[0]}`,
  );
  const sentences = [
    ...(sources.length === 0 ? [] : [`First take ${sources.join(", and ")}.`]),
    ...(note === undefined ? [] : [note]),
  ];
  return sentences.length === 0 ? UNCHANGED : sentences.join(" ");
}

function memberOf({ example, member }: Source, members: AnswerMembers): string {
  const answer = members.get(example.split(" ")[0] ?? "");
  return answer !== undefined && member.startsWith(`${answer}.`) ? member.slice(answer.length + 1) : member;
}
