import type { DescFile, DescMessage } from "@bufbuild/protobuf";

const snakeCase = /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g;

/** Converts a proto comment to CommonMark. */
export type CommentText = (comment: string) => string;

/**
 * Returns a function that converts comments. It joins wrapped lines, and keeps empty lines and list items that begin
 * with `-`. It replaces proto names of fields (`page_size`) by their JSON names (`pageSize`), for the messages in
 * `files` and their imports.
 */
export function createCommentText(files: Iterable<DescFile>): CommentText {
  const all = new Set(files);
  for (const file of all) for (const dependency of file.dependencies) all.add(dependency);
  const names = new Map([...all].flatMap(({ messages }) => messages.flatMap(namesIn)));
  return (comment) => joinLines(comment).replace(snakeCase, (name) => names.get(name) ?? name);
}

function joinLines(comment: string): string {
  const lines = comment.split("\n").map((line) => line.trim());
  return lines
    .join("\n")
    .trim()
    .replace(/([^\n])\n(?![\n-])/g, "$1 ");
}

function namesIn({ fields, nestedMessages }: DescMessage): (readonly [name: string, jsonName: string])[] {
  return [...fields.map(({ name, jsonName }) => [name, jsonName] as const), ...nestedMessages.flatMap(namesIn)];
}
