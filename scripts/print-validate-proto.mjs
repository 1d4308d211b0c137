/**
 * Writes buf/validate/validate.proto to build/proto from the descriptor in @bufbuild/protovalidate. No npm package
 * contains it as text, and the build uses no schema registry. Omits the file's own options (CEL rules and examples):
 * the validator reads them from its descriptor, and the compiler needs only names, numbers and types.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { toJson } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type, FileOptionsSchema } from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

const target = fileURLToPath(new URL("../build/proto/buf/validate/validate.proto", import.meta.url));

const file = file_buf_validate_validate.proto;
if (file.syntax === "proto3" || file.syntax === "editions") {
  throw new Error(`validate.proto is ${file.syntax} now, this printer writes proto2`);
}
const text = [
  'syntax = "proto2";',
  `package ${file.package};`,
  ...file.dependency.map((path) => `import "${path}";`),
  ...(file.options === undefined ? [] : printFileOptions(file.options)),
  ...file.enumType.flatMap((e) => printEnum(e, "")),
  ...file.messageType.flatMap((m) => printMessage(m, "")),
  ...printExtensions(file.extension, ""),
].join("\n");
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, `${text}\n`);

/** Prints the packages that generated code belongs to in Go, Java and other languages. */
function printFileOptions(options) {
  return Object.entries(toJson(FileOptionsSchema, options)).map(([name, value]) => {
    const protoName = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return `option ${protoName} = ${JSON.stringify(value)};`;
  });
}

function printMessage(message, indent) {
  const inner = `${indent}  `;
  const plain = message.field.filter((f) => f.oneofIndex === undefined || !hasOneof(f));
  return [
    `${indent}message ${message.name} {`,
    ...message.enumType.flatMap((e) => printEnum(e, inner)),
    ...message.nestedType.flatMap((m) => printMessage(m, inner)),
    ...plain.map((f) => printField(f, inner, true)),
    ...message.oneofDecl.flatMap((oneof, index) => [
      `${inner}oneof ${oneof.name} {`,
      ...message.field
        .filter((f) => hasOneof(f) && f.oneofIndex === index)
        .map((f) => printField(f, `${inner}  `, false)),
      `${inner}}`,
    ]),
    ...message.extensionRange.map((range) => `${inner}extensions ${range.start} to ${printRangeEnd(range.end)};`),
    ...printReserved(message, inner),
    ...printExtensions(message.extension, inner),
    `${indent}}`,
  ];
}

function printReserved(message, indent) {
  return [
    ...message.reservedRange.map((range) => `${indent}reserved ${range.start} to ${range.end - 1};`),
    ...message.reservedName.map((name) => `${indent}reserved "${name}";`),
  ];
}

function printExtensions(extensions, indent) {
  return extensions.flatMap((field) => [
    `${indent}extend ${field.extendee} {`,
    printField(field, `${indent}  `, true),
    `${indent}}`,
  ]);
}

function printField(field, indent, withLabel) {
  const label = withLabel ? `${FieldDescriptorProto_Label[field.label].toLowerCase()} ` : "";
  return `${indent}${label}${printType(field)} ${field.name} = ${field.number};`;
}

function printType(field) {
  return field.typeName || FieldDescriptorProto_Type[field.type].toLowerCase();
}

function printEnum(descriptor, indent) {
  const aliases = descriptor.options?.allowAlias ? [`${indent}  option allow_alias = true;`] : [];
  return [
    `${indent}enum ${descriptor.name} {`,
    ...aliases,
    ...descriptor.value.map((v) => `${indent}  ${v.name} = ${v.number};`),
    `${indent}}`,
  ];
}

function printRangeEnd(end) {
  return end > 536_870_911 ? "max" : end - 1;
}

function hasOneof(field) {
  return Object.hasOwn(field, "oneofIndex");
}
