import type { DescMethod } from "@bufbuild/protobuf";

/** Returns the name of a method in words: "Create book" for CreateBook. */
export function operationSummary({ name }: Pick<DescMethod, "name">): string {
  const [first = "", ...others] = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").split(" ");
  return [first, ...others.map((word) => word.toLowerCase())].join(" ");
}
