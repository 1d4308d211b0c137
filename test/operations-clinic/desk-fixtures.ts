import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { UserAttentionService } from "../../src/gen/cupo/access/v1/user_attention_service_pb.js";
import { WaitlistService } from "../../src/gen/cupo/access/v1/waitlist_service_pb.js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { registration } from "../support/registration.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { idOf } from "./resources-under-test.js";

/**
 * Returns functions that create resources of the desks in the tenant of `as`. Each returns the id of the new resource.
 */
export function deskFixtures(service: TestService, as: TokenFor = {}) {
  const make = async (method: DescMethodUnary, member: string, request: JsonObject) => {
    const { status, text, body } = await callRpc(service, method, request, { as });
    if (status !== 200) throw new Error(`${method.name} was answered with ${status} ${text}`);
    return idOf(body[member] as JsonObject);
  };
  const named = () => ({ code: randomUUID(), active: true });
  const { createHealthcareService, createLocation, createPractitioner } = ReferenceDataService.method;
  const patient = () => make(PatientService.method.registerPatient, "patient", { ...registration() });
  const healthcareService = () =>
    make(createHealthcareService, "healthcareService", { ...named(), name: "Medicina general" });
  return {
    patient,
    healthcareService,
    location: () => make(createLocation, "location", { ...named(), name: "Sede Norte" }),
    practitioner: () => make(createPractitioner, "practitioner", { ...named(), fullName: "Luz Gómez" }),
    async entry(changes: JsonObject = {}) {
      const { createWaitlistEntry } = WaitlistService.method;
      return make(createWaitlistEntry, "waitlistEntry", {
        patientId: changes["patientId"] ?? (await patient()),
        serviceId: changes["serviceId"] ?? (await healthcareService()),
        dateFrom: "2020-01-31",
        dateTo: "9999-12-31",
        preferredPeriods: ["MORNING"],
        ...changes,
      });
    },
    attentionCase: (changes: JsonObject = {}) =>
      make(UserAttentionService.method.createCase, "userAttentionCase", {
        category: "COMPLAINT",
        externalReference: "REF-1",
        description: "La espera fue larga.",
        ...changes,
      }),
  };
}
