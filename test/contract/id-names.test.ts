import type { DescField, DescMessage, DescMethod } from "@bufbuild/protobuf";
import { httpBindings } from "@cupo/connect-rest";
import { expect, test } from "vitest";
import { definitionComment } from "../../src/openapi/definition-comment.js";
import { isPublished } from "../../src/operation.js";
import { servedServices } from "../../src/services/services.js";

const methods = servedServices.flatMap(({ service }) => service.methods);
const published = methods.filter(({ parent }) => isPublished(parent));
const ofClinic = methods.filter(({ parent }) => !isPublished(parent));

test("no field of the clinic interface has the bare name id", () => {
  const bare = fieldsBelow(messagesOf(ofClinic)).filter(({ name }) => ["id", "ids", "uuid"].includes(name));
  expect(bare.filter(({ parent }) => parent.file.proto.package === "cupo.clinic.v1")).toEqual([]);
});

test("the id by which a resource is read or updated has the same name in the resource", () => {
  const others = ofClinic.flatMap((method) => {
    const id = /^(?:Get|Update)/.test(method.name) ? lastIdOf(method) : undefined;
    const isKnown = fieldsBelow([method.output]).some(({ name }) => name === id);
    return id === undefined || isKnown ? [] : [`${method.name}: ${id}`];
  });
  expect(others).toEqual([]);
});

test("where the published interface answers id, the comment says how the clinic interface calls it", () => {
  const ids = fieldsBelow(published.map(({ output }) => output)).filter(({ name }) => name === "id");
  const names = new Set(fieldsBelow(messagesOf(ofClinic)).map(({ name }) => name));
  const said = ids.map((field) => {
    const [, name = ""] = /cupo\.clinic\.v1 calls it (\w+)\./.exec(definitionComment(field)) ?? [];
    return `${field.parent.name}: ${name !== "" && nameFits(field.parent, name) && names.has(name)}`;
  });
  expect(said.filter((each) => each.endsWith("false"))).toEqual([]);
  expect(said).toHaveLength(14);
});

/** Returns whether a name of an id is that of its message, or the end of it: `rule_id` for ProgramRule. */
function nameFits({ name: message }: DescMessage, name: string): boolean {
  const whole = message.replaceAll(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  return `_${whole}_id`.endsWith(`_${name}`);
}

/** Returns the name of the last variable of a method's path; undefined if its path has none. */
function lastIdOf(method: DescMethod): string | undefined {
  const paths = httpBindings(method).map(({ template }) => template);
  return /\{(\w+)\}[^{}]*$/.exec(paths[0] ?? "")?.[1];
}

/** Returns the requests and responses of methods. */
function messagesOf(all: readonly DescMethod[]): DescMessage[] {
  return all.flatMap(({ input, output }) => [input, output]);
}

/** Returns the fields of messages, and of all messages below them. */
function fieldsBelow(roots: readonly DescMessage[]): DescField[] {
  const found = new Set(roots);
  for (const { fields } of found) {
    for (const { message } of fields) if (message !== undefined) found.add(message);
  }
  return [...found].flatMap(({ fields }) => fields);
}
