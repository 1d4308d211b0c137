import type { MessageInitShape } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { type Client, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { PatientSchema } from "../../src/gen/cupo/access/v1/patient_pb.js";
import {
  PatientService,
  type RegisterPatientRequestSchema,
  type UpdatePatientRequestSchema,
} from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { parseObject, type RestAnswer } from "./rest-request.js";

/** The ways to call an RPC of the internal listener. */
export const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  "Connect, JSON, HTTP/1.1": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  "Connect, binary, HTTP/2": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
  "gRPC, HTTP/2": (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web, HTTP/1.1": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
};

/** How an RPC ended: the patient or the Problem as REST would show it, and the headers. */
export interface RpcOutcome {
  /** undefined for a success. */
  readonly code?: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

type RegisterRequest = MessageInitShape<typeof RegisterPatientRequestSchema>;
type UpdateRequest = MessageInitShape<typeof UpdatePatientRequestSchema>;

/** The patient operations over one of the transports. */
export interface PatientRpc {
  register(request: RegisterRequest, headers: HeadersInit): Promise<RpcOutcome>;
  update(request: UpdateRequest, headers: HeadersInit): Promise<RpcOutcome>;
}

/** Calls the patient operations; errors are outcomes like others. */
export function patientRpc(transport: Transport): PatientRpc {
  const client = createClient(PatientService, transport);
  return {
    register: (request, headers) =>
      outcomeOf(headers, (options) => client.registerPatient(request, options)),
    update: (request, headers) => outcomeOf(headers, (options) => client.updatePatient(request, options)),
  };
}

type Options = NonNullable<Parameters<Client<typeof PatientService>["registerPatient"]>[1]>;
type Response = Awaited<ReturnType<Client<typeof PatientService>["registerPatient" | "updatePatient"]>>;

async function outcomeOf(headers: HeadersInit, call: (options: Options) => Promise<Response>): Promise<RpcOutcome> {
  let received = new Headers();
  const onHeader = (all: Headers) => {
    received = all;
  };
  try {
    const { patient } = await call({ headers, onHeader });
    if (patient === undefined) throw new Error("the response has no patient");
    return { headers: received, body: toJson(PatientSchema, patient) as Record<string, unknown> };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const [problem] = error.findDetails(ProblemSchema);
    const body = problem === undefined ? {} : (toJson(ProblemSchema, problem) as Record<string, unknown>);
    return { code: error.code, headers: error.metadata, body };
  }
}
