import {
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/** Files with definitions, and what they define. */
export interface Definitions {
  /** Returns a file and all its imports, at any depth. The file is first. */
  withImports(file: DescFile): readonly DescFile[];
  /** Serializes the descriptor of a file. */
  bytesOf(file: DescFile): Uint8Array;
  /** Files by name, such as `google/protobuf/timestamp.proto`. */
  readonly files: ReadonlyMap<string, DescFile>;
  /**
   * Files by the full name of each symbol that they define: types, services, extensions, and methods, fields, oneofs and
   * enum values within them.
   */
  readonly symbols: ReadonlyMap<string, DescFile>;
  /** For each message by its full name, the files of its extensions by number. */
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescFile>>;
}

/**
 * Indexes the files of services, with all their imports. If two packages bring a file of the same name, the first one
 * counts: clients refuse a name that is defined twice.
 */
export function indexDefinitions(services: readonly DescService[]): Definitions {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();
  const bytes = new Map<DescFile, Uint8Array>();
  for (const file of closure(services.map((service) => service.file))) files.set(file.proto.name, file);
  for (const file of files.values()) {
    for (const type of nestedTypes(file)) {
      for (const name of namesIn(type)) if (!symbols.has(name)) symbols.set(name, file);
      if (type.kind === "message") extensionsOf(extensions, type.typeName);
      if (type.kind === "extension") extensionsOf(extensions, type.extendee.typeName).set(type.number, file);
    }
  }
  return {
    files,
    symbols,
    extensions,
    withImports: (file) => closure([file]).map(({ proto }) => files.get(proto.name) ?? file),
    bytesOf(file) {
      const known = bytes.get(file);
      if (known !== undefined) return known;
      const made = toBinary(FileDescriptorProtoSchema, file.proto);
      bytes.set(file, made);
      return made;
    },
  };
}

/** Returns files and all their imports, at any depth, each name once. The list grows during the loop. */
function closure(files: readonly DescFile[]): readonly DescFile[] {
  const found = new Map<string, DescFile>();
  const waiting = [...files];
  for (const file of waiting) {
    if (found.has(file.proto.name)) continue;
    found.set(file.proto.name, file);
    waiting.push(...file.dependencies);
  }
  return [...found.values()];
}

function extensionsOf(extensions: Map<string, Map<number, DescFile>>, typeName: string): Map<number, DescFile> {
  const known = extensions.get(typeName) ?? new Map<number, DescFile>();
  extensions.set(typeName, known);
  return known;
}

/**
 * Returns the full names of a type and its members. The value of an enum is a sibling of the enum in protobuf; tools
 * also look for it within.
 */
function namesIn(type: DescMessage | DescEnum | DescExtension | DescService): readonly string[] {
  const { typeName } = type;
  const within = (members: readonly { readonly name: string }[]) => members.map(({ name }) => `${typeName}.${name}`);
  if (type.kind === "message") return [typeName, ...within(type.fields), ...within(type.oneofs)];
  if (type.kind === "service") return [typeName, ...within(type.methods)];
  if (type.kind === "extension") return [typeName];
  const siblings = type.values.map(({ name }) => siblingOf(typeName, name));
  return [typeName, ...within(type.values), ...siblings];
}

function siblingOf(typeName: string, name: string): string {
  return `${typeName.slice(0, typeName.lastIndexOf(".") + 1)}${name}`;
}
