import { type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { type CallOptions, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { type Patient, PatientSchema } from "../../src/gen/cupo/access/v1/patient_pb.js";
import {
  PatientService,
  type RegisterPatientRequestSchema,
  type UpdatePatientRequestSchema,
} from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.js";

/** Protocols with which the internal listener can be called. */
export const transports = {
  "Connect, JSON, HTTP/1.1": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  "Connect, binary, HTTP/2": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
  "gRPC, HTTP/2": (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web, HTTP/1.1": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
} satisfies Record<string, (baseUrl: string) => Transport>;

/** The result of an RPC. */
export interface RpcOutcome {
  /** Undefined for a success. */
  readonly code?: number;
  readonly headers: Headers;
  /** The patient, or the Problem in the details of the error, as REST shows it. */
  readonly body: unknown;
  /** The other details of the error, by message name. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The patient operations over one of the transports. */
export interface PatientRpc {
  register(
    request: MessageInitShape<typeof RegisterPatientRequestSchema>,
    headers: Record<string, string>,
  ): Promise<RpcOutcome>;
  update(
    request: MessageInitShape<typeof UpdatePatientRequestSchema>,
    headers: Record<string, string>,
  ): Promise<RpcOutcome>;
}

/** Creates a client that returns errors as outcomes. */
export function patientRpc(transport: Transport): PatientRpc {
  const client = createClient(PatientService, transport);
  return {
    register: (request, headers) => outcomeOf((options) => client.registerPatient(request, options), headers),
    update: (request, headers) => outcomeOf((options) => client.updatePatient(request, options), headers),
  };
}

async function outcomeOf(
  call: (options: CallOptions) => Promise<{ patient?: Patient | undefined }>,
  headers: Record<string, string>,
): Promise<RpcOutcome> {
  let received = new Headers();
  const onHeader = (all: Headers) => {
    received = all;
  };
  try {
    const { patient } = await call({ headers, onHeader });
    return { headers: received, body: patient && toJson(PatientSchema, patient) };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const [problem] = error.findDetails(ProblemSchema);
    const details = Object.fromEntries(
      [ErrorInfoSchema, BadRequestSchema, RetryInfoSchema].flatMap((schema) =>
        error.findDetails(schema).map((detail) => [schema.typeName, toJson(schema, detail)]),
      ),
    );
    return { code: error.code, headers: error.metadata, body: problem && toJson(ProblemSchema, problem), details };
  }
}
