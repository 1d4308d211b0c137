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

/** Proto files, indexed by their name, by the symbols that they define and by the extensions that they define. */
export interface Definitions {
  /** Returns the file, followed by all its direct and indirect imports. */
  withImports(file: DescFile): readonly DescFile[];
  /** Returns the serialized descriptor of a file. */
  bytesOf(file: DescFile): Uint8Array;
  /** Files by name, such as `google/protobuf/timestamp.proto`. */
  readonly files: ReadonlyMap<string, DescFile>;
  /**
   * The file that defines each symbol, by the full name of the symbol. Symbols are types, services, extensions,
   * methods, fields, oneofs and enum values.
   */
  readonly symbols: ReadonlyMap<string, DescFile>;
  /**
   * The extensions of each message, by the full name of the message. The inner map contains the file that defines each
   * extension, by the field number of the extension. It is empty for a message without extensions.
   */
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescFile>>;
}

/**
 * Indexes the files that define the services, and all their imports. Two npm packages can contain a file of the same
 * name. Only the file that is found first is indexed then, because clients refuse two files of the same name.
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

/**
 * Returns the files and their direct and indirect imports. Of several files with the same name, it returns only the
 * file that it finds first.
 */
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
 * Returns the full names of a type and its members. In protobuf, the full name of an enum value does not contain the
 * name of its enum: `library.v1.OPEN`. Some tools look for `library.v1.State.OPEN`, so both names are returned.
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
