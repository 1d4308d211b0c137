#!/usr/bin/env node
/**
 * A plugin for buf and protoc. Writes `comments.ts` for each folder of protos: the comments of services, methods,
 * messages, fields, enums and values by full name, one paragraph per line. Generated code contains them only as
 * comments, which a program cannot read at run time. The OpenAPI documents use them as descriptions.
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
    file.print("/** The comment of each definition in the protos, by its full name. */");
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

/** Joins wrapped lines. Keeps empty lines and lines that begin a list item. */
function commentOf(definition) {
  const { leading = "" } = getComments(definition);
  const lines = leading.split("\n").map((line) => line.trim());
  return lines
    .join("\n")
    .trim()
    .replace(/([^\n])\n(?![\n-])/g, "$1 ");
}
