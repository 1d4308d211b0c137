import { readdirSync } from "node:fs";
import type { DescFile, DescMessage } from "@bufbuild/protobuf";

/** Returns the descriptors of all protos of the project. */
export async function generatedFiles(): Promise<DescFile[]> {
  const folder = new URL("../../../src/gen/cupo/", import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("_pb.ts"));
  const modules: object[] = await Promise.all(names.map((name) => import(new URL(name, folder).pathname)));
  return modules.flatMap((module) => Object.values(module)).filter((value) => value?.kind === "file");
}

/** Returns a message and all messages declared in it. */
export function withNested(message: DescMessage): DescMessage[] {
  return [message, ...message.nestedMessages.flatMap(withNested)];
}
