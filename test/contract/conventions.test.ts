import { createHash } from "node:crypto";
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  ScalarType,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { beforeAll, describe, expect, test } from "vitest";
import {
  file_cupo_options_v1_options,
  Operation_IdempotencyKey,
  operation,
} from "../../src/gen/cupo/options/v1/options_pb.js";
import { file_cupo_options_v1_rules } from "../../src/gen/cupo/options/v1/rules_pb.js";
import { schemaOptions } from "../../src/openapi/schema-options.js";
import { operationName } from "../../src/operation.js";
import { type DescribedContract, describeContract } from "./described-contract.js";

const CLINIC = "cupo.clinic.v1";
const ACCESS = "cupo.access.v1";
/** The sentences by which the comment of an enum says whether values may be added. */
const GROWS = "Values may be added: ";
const STAYS = "No value will be added.";
/** Messages with data about a patient. Reading one leaves an access record. */
const TELL_OF_PATIENTS = new Set([
  "PatientDetails",
  "PatientChange",
  "ConsentDetails",
  "Consent",
  "NoteDetails",
  "Note",
  "UserAttentionCaseDetails",
]);
/** The request field that asks for the names of patients. */
const ASKS_FOR_PATIENTS = "include_patient_names";

/** A read that leaves rows in the audit trail. */
const AUDITED_READ = "cupo.clinic.v1.TenantService/ExportTenant";

let contract: DescribedContract;
let clinicMethods: readonly DescMethod[];
let clinicMessages: readonly DescMessage[];
/** The messages of the clinic's responses, at any depth. */
let answers: ReadonlySet<DescMessage>;

beforeAll(async () => {
  contract = await describeContract();
  clinicMethods = contract.methods.filter((method) => packageOf(method.parent) === CLINIC);
  clinicMessages = contract.messages.filter((message) => packageOf(message) === CLINIC);
  answers = new Set(clinicMethods.flatMap(({ output }) => [...reachable(output)]));
});

describe("an operation", () => {
  test("says whether it takes an idempotency key", () => {
    const silent = contract.methods.filter(
      (method) => keyOf(method) === Operation_IdempotencyKey.IDEMPOTENCY_KEY_UNSPECIFIED,
    );
    expect(silent.map(operationName)).toEqual([]);
  });

  test("is marked free of side effects exactly if it takes no key and leaves no record", () => {
    const wrong = contract.methods.filter((method) => {
      const isFree = keyOf(method) === Operation_IdempotencyKey.NONE && !leavesRecord(method);
      return isFree !== (method.idempotency === Level.NO_SIDE_EFFECTS);
    });
    expect(wrong.map(operationName)).toEqual([]);
  });
});

describe("a message of the clinic's interface", () => {
  test("uses no message or enum of the published interface, because those are closed", () => {
    const foreign = fieldsOf(clinicMessages).filter(({ message, enum: enumeration }) => {
      const type = message ?? enumeration;
      return type !== undefined && packageOf(type) === ACCESS;
    });
    expect(namesOf(foreign)).toEqual([]);
    const borrowed = clinicMethods.filter(({ input, output }) =>
      [input, output].some((each) => packageOf(each) !== CLINIC),
    );
    expect(borrowed.map(operationName)).toEqual([]);
  });

  test("has no field named id; every field with a UUID is named after its resource, such as patient_id", () => {
    const anonymous = fieldsOf(clinicMessages).filter((field) => /^ids?$/.test(field.name));
    expect(namesOf(anonymous)).toEqual([]);
    const misnamed = fieldsOf(clinicMessages).filter(
      (field) => /^UUIDs? /.test(contract.commentOf(field)) && !/_ids?$/.test(field.name),
    );
    expect(namesOf(misnamed)).toEqual([]);
  });

  test("has field presence in responses exactly for fields whose comment says that they may be absent", () => {
    const wrong = fieldsOf([...answers].filter((message) => packageOf(message) === CLINIC)).filter((field) => {
      const isScalar = field.message === undefined && field.fieldKind !== "list";
      return isScalar && field.proto.proto3Optional !== /\babsent\b/i.test(contract.commentOf(field));
    });
    expect(namesOf(wrong)).toEqual([]);
  });

  test("has no field presence for versions, page sizes and page tokens", () => {
    const optional = fieldsOf(clinicMessages).filter(
      ({ name, proto }) => proto.proto3Optional && /^(version|page_size|page_token|next_page_token)$/.test(name),
    );
    expect(namesOf(optional)).toEqual([]);
  });
});

describe("a message of a response", () => {
  const inAnswers = () =>
    fieldsOf([...new Set(contract.methods.flatMap(({ output }) => [...reachable(output)]))]).filter((field) =>
      packageOf(field.parent).startsWith("cupo."),
    );

  test("marks a field as required, or says in its comment that it may be absent", () => {
    const wrong = inAnswers().filter((field) => {
      const isSingular = field.fieldKind === "message" || field.proto.proto3Optional;
      const mayBeAbsent = /\babsent\b/i.test(contract.commentOf(field));
      return isSingular && getOption(field, fieldRules).required === mayBeAbsent;
    });
    expect(namesOf(wrong)).toEqual([]);
  });

  test("has a validation rule for each id, date and time of day whose comment states the format", () => {
    const silent = inAnswers().filter((field) => {
      const tellsForm = /^UUIDs? |YYYY-MM-DD|HH:MM:SS/.test(contract.commentOf(field));
      return field.scalar === ScalarType.STRING && tellsForm && getOption(field, fieldRules).type.case === undefined;
    });
    expect(namesOf(silent)).toEqual([]);
  });
});

describe("an enum", () => {
  test("is nested in a message and says whether values may be added; published statuses never grow", () => {
    const wrong = contract.enums.filter((each) => {
      const [grows, stays] = [GROWS, STAYS].map((sentence) => contract.commentOf(each).includes(sentence));
      const isClosed = packageOf(each) === ACCESS && each.name === "Status";
      return each.parent === undefined || (isClosed ? grows || !stays : !grows || stays);
    });
    expect(wrong.map(({ typeName }) => typeName)).toEqual([]);
  });

  test("has its zero value in OpenAPI only if a request or a response can have it", () => {
    const served = contract.enums.filter((each) => [ACCESS, CLINIC].includes(packageOf(each)));
    const listed = served.filter((each) => schemaOptions.enumValues?.(each).some(({ number }) => number === 0));
    expect(listed.map(({ typeName }) => typeName)).toEqual([`${CLINIC}.Event.ResourceType`, `${CLINIC}.Event.Start`]);
  });
});

describe("an extension of protobuf options or validation rules", () => {
  const extensions = [file_cupo_options_v1_options, file_cupo_options_v1_rules].flatMap((file) => file.extensions);

  test.each(extensions.map(({ typeName, number }) => ({ typeName, number })))(
    "has the number that is derived from its name: $typeName",
    ({ typeName, number }) => {
      expect(number).toBe(numberMadeOf(typeName));
    },
  );
});

/**
 * Derives an extension number from a name. The range starts above the numbers for in-house use and those that
 * protobuf's global registry assigns, and ends at the highest valid number.
 */
function numberMadeOf(name: string): number {
  const [lowest, highest] = [100_000, 536_870_911];
  const hash = createHash("sha256").update(name).digest().readUInt32BE(0);
  return lowest + (hash % (highest - lowest + 1));
}

function packageOf({ file }: Pick<DescMessage | DescEnum, "file">): string {
  return file.proto.package;
}

function keyOf(method: DescMethod): Operation_IdempotencyKey {
  return getOption(method, operation).idempotencyKey;
}

function leavesRecord(method: DescMethod): boolean {
  const { input, output } = method;
  if (operationName(method) === AUDITED_READ) return true;
  const isAsked = input.fields.some(({ name }) => name === ASKS_FOR_PATIENTS);
  return isAsked || [...reachable(output)].some(({ name }) => TELL_OF_PATIENTS.has(name));
}

/** Returns a message and all messages in it, at any depth. */
function reachable(message: DescMessage, found = new Set<DescMessage>()): Set<DescMessage> {
  if (found.has(message)) return found;
  found.add(message);
  for (const field of message.fields) if (field.message !== undefined) reachable(field.message, found);
  return found;
}

function fieldsOf(messages: readonly DescMessage[]): DescField[] {
  return messages.flatMap(({ fields }) => fields);
}

function namesOf(fields: readonly DescField[]): string[] {
  return fields.map(({ parent, name }) => `${parent.typeName}.${name}`);
}
