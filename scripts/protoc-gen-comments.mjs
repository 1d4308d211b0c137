#!/usr/bin/env node
/**
 * A plugin of buf and protoc: for each folder of protos `comments.ts`, the comments above services, methods, messages, fields,
 * enums and their values by full name, one line a paragraph. Stubs have them as comments only, which no
 * program can read as it runs; the OpenAPI documents describe operations by them.
 */
import { dirname } from "node:path";
import { createEcmaScriptPlugin, getComments, runNodeJs } from "@bufbuild/protoplugin";

const plugin = createEcmaScriptPlugin({ name: "protoc-gen-comments", version: "v1", generateTs });
runNodeJs(plugin);

function generateTs(schema) {
  for (const folder of new Set(schema.files.map(folderOf))) {
    const files = schema.files.filter((file) => folderOf(file) === folder);
    const comments = files.flatMap(definitionsOf).map((definition) => [nameOf(definition), commentOf(definition)]);
    const file = schema.generateFile(`${folder}/comments.ts`);
    file.print("/** What the protos say of each definition, by its full name. */");
    file.print("export const comments: Readonly<Record<string, string>> = ", JSON.stringify(sorted(comments)), ";");
  }
}

function folderOf({ proto }) {
  return dirname(proto.name);
}

function sorted(comments) {
  return Object.fromEntries(comments.filter(([, text]) => text !== "").toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function definitionsOf({ services, messages, enums }) {
  return [
    ...services.flatMap((service) => [service, ...service.methods]),
    ...messages.flatMap(ofMessage),
    ...enums.flatMap(ofEnum),
  ];
}

function ofMessage(message) {
  return [
    message,
    ...message.fields,
    ...message.nestedMessages.flatMap(ofMessage),
    ...message.nestedEnums.flatMap(ofEnum),
  ];
}

function ofEnum(definition) {
  return [definition, ...definition.values];
}

function nameOf({ typeName, parent, name }) {
  return typeName ?? `${parent.typeName}.${name}`;
}

/** Lines that were broken to fit are joined; an empty line stays, and so does a line that begins a list's item. */
function commentOf(definition) {
  const { leading = "" } = getComments(definition);
  const lines = leading.split("\n").map((line) => line.trim());
  return lines
    .join("\n")
    .trim()
    .replace(/([^\n])\n(?![\n-])/g, "$1 ");
}
