import { type ApiDocument, resolve, type Schema, schemaName } from "./api-document.js";
import { type Html, html } from "./html.js";
import { markdown } from "./markdown.js";

/** A member of an object. */
interface Member {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Renders the members of an object schema, or the type of any other schema. */
export function schemaHtml(document: ApiDocument, schema: Schema): Html {
  const members = membersOf(document, schema);
  if (members.length === 0) return html`<p class="type">${typeHtml(schema)}</p>`;
  return html`<ul class="members">${members.map((member) => memberHtml(member))}</ul>`;
}

/** Renders a member of a schema, or a parameter. Only a parameter has a `place`, such as "query". */
export function memberHtml({ name, schema, isRequired, place }: Member & { readonly place?: string }): Html {
  const { description } = schema;
  const limits = limitsOf(schema);
  return html`<li><code>${name}</code> <span class="type">${typeHtml(schema)}</span>${place !== undefined && html` <span class="place">${place}</span>`}${isRequired && html` <span class="required">required</span>`}${limits.length > 0 && html` <span class="limits">${limits.join(", ")}</span>`}${description !== undefined && markdown(description)}</li>
`;
}

/** Renders every schema of the document, ordered by name. */
export function schemasHtml(document: ApiDocument): Html {
  const schemas = Object.entries(document.components?.schemas ?? {}).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return html`<section id="schemas"><h2>Schemas</h2>${schemas.map(
    ([name, schema]) => html`<details class="schema" id="schema-${name}"><summary><h3>${name}</h3></summary>
${schema.description !== undefined && markdown(schema.description)}${schemaHtml(document, schema)}</details>
`,
  )}</section>`;
}

function membersOf(document: ApiDocument, schema: Schema): Member[] {
  const { properties, required = [], allOf = [] } = resolve<Schema>(document, schema);
  const own = Object.entries(properties ?? {}).map(([name, each]) => ({
    name,
    schema: each,
    isRequired: required.includes(name),
  }));
  const all = [...allOf.flatMap((part) => membersOf(document, part)), ...own];
  return [...new Map(all.map((member) => [member.name, member])).values()];
}

function typeHtml(schema: Schema): Html {
  const { type, format, items, enum: values, additionalProperties, anyOf, const: only } = schema;
  const name = schemaName(schema);
  if (name !== undefined) return html`<a href="#schema-${name}">${name}</a>`;
  if (only !== undefined) return html`<code>${JSON.stringify(only)}</code>`;
  if (items !== undefined) return html`list of ${typeHtml(items)}`;
  if (values !== undefined)
    return html`${values.map((value, index) => html`${index > 0 && " | "}<code>${typeof value === "string" ? value : JSON.stringify(value)}</code>`)}`;
  if (anyOf !== undefined) return html`${anyOf.map((each, index) => html`${index > 0 && " or "}${typeHtml(each)}`)}`;
  if (typeof additionalProperties === "object") return html`map of ${typeHtml(additionalProperties)}`;
  const kind = type === undefined ? "any" : [type].flat().join(" or ");
  return html`${format === undefined || format === "int32" ? kind : format}`;
}

/** Describes the limits of a schema in words. Omits patterns, because the description of the schema explains them. */
function limitsOf(schema: Schema): string[] {
  return [
    rangeOf(schema["minLength"], schema["maxLength"], "characters"),
    rangeOf(schema["minItems"], schema["maxItems"], "items"),
    rangeOf(schema["minimum"], schema["maximum"], ""),
    schema["uniqueItems"] === true ? "without duplicates" : "",
  ].filter((text) => text !== "");
}

function rangeOf(least: unknown, most: unknown, unit: string): string {
  const [from, to] = [least, most].map((limit) => (typeof limit === "number" ? limit.toLocaleString("en") : undefined));
  if (from === undefined && to === undefined) return "";
  const range = to === undefined ? `at least ${from}` : from === undefined ? `at most ${to}` : `${from} to ${to}`;
  return `${range} ${unit}`.trim();
}
