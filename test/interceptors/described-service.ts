import {
  create,
  createFileRegistry,
  type DescMethod,
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
import {
  OperationSchema,
  operation,
  readable_with_scope as readableWithScope,
} from "../../src/gen/cupo/options/v1/options_pb.js";

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;

/** A service that is described here and not in a proto, for shapes of messages that the contract does not have (yet). */
export interface DescribedService {
  readonly service: DescService;
  readonly method: DescMethodUnary;
}

/**
 * The operation `rpc Read(Tree) returns (Tree)`, where fields that need a scope stand at any depth: in the message itself,
 * in a field, in a list, in a map, in itself again, and beside others. `scope` is that of the operation; without it the
 * RPC has no such option.
 *
 *     message Tree {
 *       string plain = 1;
 *       string secret = 2 [(readable_with_scope) = "secret:read"];
 *       repeated string secrets = 3 [(readable_with_scope) = "secrets:read"];
 *       Tree child = 4;
 *       repeated Branch branches = 5;
 *       map<string, Tree> named = 6;
 *     }
 *     message Branch { Tree tree = 1; map<string, string> words = 2; }
 */
export function describeTreeService(scope?: string): DescribedService {
  const file = create(FileDescriptorProtoSchema, {
    name: "test/tree.proto",
    package: "test",
    syntax: "proto3",
    messageType: [
      {
        name: "Tree",
        field: [
          text("plain", 1),
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
        ],
      },
    ],
  });
  const service = createFileRegistry(file, () => undefined).getService("test.TreeService");
  const method = service?.methods.find(isUnary);
  if (service === undefined || method === undefined) throw new Error("the service is not described");
  return { service, method };
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function methodOptions(scope: string) {
  const options = create(MethodOptionsSchema);
  setExtension(options, operation, create(OperationSchema, { scope }));
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

function mapEntry(name: string, value: Field) {
  return { name, field: [text("key", 1), value], options: { mapEntry: true } };
}
