import type {
  DescriptorProto,
  EnumDescriptorProto,
  FileDescriptorProto,
  FileDescriptorSet,
  ServiceDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import { type Definition, definitionName } from "./schemas/schema-options.js";

/** The full name of a definition, and its `path` in SourceCodeInfo as text, such as "4,0,2,1". */
type Place = readonly [name: string, path: string];

/**
 * Returns a function for the option `comment`. The function returns the leading comment of a definition: "" if the
 * definition has none, undefined if no file has the definition. The files must contain source info: use `buf build
 * --as-file-descriptor-set` or `protoc --include_source_info --descriptor_set_out` to create them.
 */
export function sourceComments({ file: files }: FileDescriptorSet): (definition: Definition) => string | undefined {
  const comments = new Map<string, string>();
  for (const file of files) {
    const locations = file.sourceCodeInfo?.location ?? [];
    const byPath = new Map(locations.map(({ path, leadingComments }) => [path.join(), leadingComments]));
    for (const [name, path] of placesIn(file)) comments.set(name, byPath.get(path) ?? "");
  }
  return (definition) => comments.get(definitionName(definition));
}

/**
 * Returns the names and paths of all services, methods, messages, fields, enums and enum values in a file. A path
 * consists of field numbers in google/protobuf/descriptor.proto, each followed by the index of an item. For example,
 * "4,0,2,1" is the second field (2,1) of the first message (4,0).
 */
function placesIn({ package: name, messageType, enumType, service }: FileDescriptorProto): Place[] {
  const prefix = name === "" ? "" : `${name}.`;
  return [
    ...messageType.flatMap((message, index) => placesInMessage(message, `${prefix}${message.name}`, `4,${index}`)),
    ...enumType.flatMap((each, index) => placesInEnum(each, `${prefix}${each.name}`, `5,${index}`)),
    ...service.flatMap((each, index) => placesInService(each, `${prefix}${each.name}`, `6,${index}`)),
  ];
}

function placesInMessage({ field, nestedType, enumType }: DescriptorProto, name: string, path: string): Place[] {
  return [
    [name, path],
    ...field.map((each, index) => [`${name}.${each.name}`, `${path},2,${index}`] as const),
    ...nestedType.flatMap((each, index) => placesInMessage(each, `${name}.${each.name}`, `${path},3,${index}`)),
    ...enumType.flatMap((each, index) => placesInEnum(each, `${name}.${each.name}`, `${path},4,${index}`)),
  ];
}

function placesInEnum({ value }: EnumDescriptorProto, name: string, path: string): Place[] {
  return [[name, path], ...value.map((each, index) => [`${name}.${each.name}`, `${path},2,${index}`] as const)];
}

function placesInService({ method }: ServiceDescriptorProto, name: string, path: string): Place[] {
  return [[name, path], ...method.map((each, index) => [`${name}.${each.name}`, `${path},2,${index}`] as const)];
}
