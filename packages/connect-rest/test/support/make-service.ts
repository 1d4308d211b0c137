import { create, createFileRegistry, type DescService, setExtension } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  file_google_protobuf_any,
  file_google_protobuf_struct,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { http } from "../../src/gen/google/api/annotations_pb.js";
import { type HttpRule, HttpRuleSchema } from "../../src/gen/google/api/http_pb.js";
import type { RestService } from "../../src/routes/rest-service.js";
import { file_library_v1_library } from "../gen/library/v1/library_pb.js";

/** One binding such as `GET /v1/{id}`, with the other fields of its rule. */
export interface BindingInit {
  readonly rule: string;
  readonly body?: string;
  readonly responseBody?: string;
  readonly additional?: readonly BindingInit[];
}

/** One method: its name, its bindings and its deviations from the default. */
export interface MethodInit extends BindingInit {
  readonly name: string;
  readonly input?: string;
  readonly output?: string;
  readonly clientStreaming?: boolean;
  readonly serverStreaming?: boolean;
}

/** Builds a service `test.Made` with methods from library.v1.Kinds to the same type, which return their request. */
export function makeService(...methods: readonly MethodInit[]): RestService {
  const service = describe(methods);
  const implementation = Object.fromEntries(
    service.methods.map(({ localName }) => [localName, (request: unknown) => request]),
  );
  return { service, implementation };
}

/** Builds a service with one method per binding, named M0, M1, … */
export function makeRoutes(...rules: readonly string[]): RestService {
  return makeService(...rules.map((rule, index) => ({ name: `M${index}`, rule })));
}

function describe(methods: readonly MethodInit[]): DescService {
  const registry = createFileRegistry(describeFile(methods), (name) => {
    return [file_library_v1_library, file_google_protobuf_any, file_google_protobuf_struct].find(
      (file) => file.proto.name === name,
    );
  });
  const service = registry.getService("test.Made");
  if (service === undefined) throw new Error("the service was not made");
  return service;
}

function describeFile(methods: readonly MethodInit[]): FileDescriptorProto {
  return create(FileDescriptorProtoSchema, {
    name: "made.proto",
    package: "test",
    syntax: "proto3",
    dependency: ["library/v1/library.proto", "google/protobuf/any.proto", "google/protobuf/struct.proto"],
    messageType: [
      {
        name: "WithAny",
        field: [
          {
            name: "any",
            number: 1,
            type: FieldDescriptorProto_Type.MESSAGE,
            label: FieldDescriptorProto_Label.OPTIONAL,
            typeName: ".google.protobuf.Any",
            jsonName: "any",
          },
        ],
      },
    ],
    service: [{ name: "Made", method: methods.map(describeMethod) }],
  });
}

function describeMethod(method: MethodInit) {
  const options = create(MethodOptionsSchema);
  setExtension(options, http, describeRule(method));
  const { name, input = ".library.v1.Kinds", output = ".library.v1.Kinds" } = method;
  const { clientStreaming = false, serverStreaming = false } = method;
  return { name, inputType: input, outputType: output, options, clientStreaming, serverStreaming };
}

function describeRule({ rule, body = "", responseBody = "", additional = [] }: BindingInit): HttpRule {
  const [kind = "", path = ""] = rule.split(" ");
  const message = create(HttpRuleSchema, { body, responseBody, additionalBindings: additional.map(describeRule) });
  if (rule !== "")
    message.pattern = { case: "custom", value: { $typeName: "google.api.CustomHttpPattern", kind, path } };
  return message;
}
