import {
  create,
  createFileRegistry,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  type MessageInitShape,
  setExtension,
} from "@bufbuild/protobuf";
import {
  type FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  MethodOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { FieldRulesSchema, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import {
  Operation_IdempotencyKey as IdempotencyKey,
  OperationSchema,
  operation,
  readable_with_scope as readableWithScope,
} from "../../src/gen/cupo/options/v1/options_pb.js";

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;

/** A service that is not defined in a proto, for message shapes that the contract does not have. */
export interface DescribedService {
  readonly service: DescService;
  readonly method: DescMethodUnary;
  readonly watch: DescMethodServerStreaming;
}

/**
 * Creates the operations `rpc Read(Tree) returns (Tree)` and `rpc Watch(Tree) returns (stream Tree)`. Fields that need
 * a scope are at any depth: in messages, lists, maps and recursive messages. `scope` is the scope of the operations;
 * without it they have no operation option. `watchKey` is the idempotency key option of Watch.
 *
 *     message Tree {
 *       string plain = 1 [(buf.validate.field).string.max_len = 40];
 *       string secret = 2 [(readable_with_scope) = "secret:read"];
 *       repeated string secrets = 3 [(readable_with_scope) = "secrets:read"];
 *       Tree child = 4;
 *       repeated Branch branches = 5;
 *       map<string, Tree> named = 6;
 *     }
 *     message Branch { Tree tree = 1; map<string, string> words = 2; }
 */
export function describeTreeService(scope?: string, watchKey = IdempotencyKey.NONE): DescribedService {
  const file = create(FileDescriptorProtoSchema, {
    name: "test/tree.proto",
    package: "test",
    syntax: "proto3",
    messageType: [
      {
        name: "Tree",
        field: [
          atMost(40, text("plain", 1)),
          guarded(text("secret", 2), "secret:read"),
          guarded({ ...text("secrets", 3), label: Label.REPEATED }, "secrets:read"),
          message("child", 4, ".test.Tree"),
          { ...message("branches", 5, ".test.Branch"), label: Label.REPEATED },
          { ...message("named", 6, ".test.Tree.NamedEntry"), label: Label.REPEATED },
        ],
        nestedType: [mapEntry("NamedEntry", message("value", 2, ".test.Tree"))],
      },
      {
        name: "Branch",
        field: [
          message("tree", 1, ".test.Tree"),
          { ...message("words", 2, ".test.Branch.WordsEntry"), label: Label.REPEATED },
        ],
        nestedType: [mapEntry("WordsEntry", text("value", 2))],
      },
    ],
    service: [
      {
        name: "TreeService",
        method: [
          {
            name: "Read",
            inputType: ".test.Tree",
            outputType: ".test.Tree",
            ...(scope === undefined ? {} : { options: methodOptions(scope) }),
          },
          {
            name: "Watch",
            inputType: ".test.Tree",
            outputType: ".test.Tree",
            serverStreaming: true,
            ...(scope === undefined ? {} : { options: methodOptions(scope, watchKey) }),
          },
        ],
      },
    ],
  });
  const service = createFileRegistry(file, () => undefined).getService("test.TreeService");
  const method = service?.methods.find(isUnary);
  const watch = service?.methods.find(isServerStreaming);
  if (service === undefined || method === undefined || watch === undefined) {
    throw new Error("the service is not described");
  }
  return { service, method, watch };
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function isServerStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === "server_streaming";
}

function methodOptions(scope: string, idempotencyKey = IdempotencyKey.IDEMPOTENCY_KEY_UNSPECIFIED) {
  const options = create(MethodOptionsSchema);
  setExtension(options, operation, create(OperationSchema, { scope, idempotencyKey }));
  return options;
}

function text(name: string, number: number): Field {
  return { name, jsonName: name, number, type: Type.STRING, label: Label.OPTIONAL };
}

function message(name: string, number: number, typeName: string): Field {
  return { name, jsonName: name, number, type: Type.MESSAGE, typeName, label: Label.OPTIONAL };
}

function guarded(field: Field, scope: string): Field {
  const options = create(FieldOptionsSchema);
  setExtension(options, readableWithScope, scope);
  return { ...field, options };
}

function atMost(maxLen: number, field: Field): Field {
  const options = create(FieldOptionsSchema);
  const rules = { type: { case: "string", value: { maxLen: BigInt(maxLen) } } } as const;
  setExtension(options, fieldRules, create(FieldRulesSchema, rules));
  return { ...field, options };
}

function mapEntry(name: string, value: Field) {
  return { name, field: [text("key", 1), value], options: { mapEntry: true } };
}
