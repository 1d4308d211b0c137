import * as makers from "../contract/makers.js";
import type { TestService } from "../support/service.js";
import { openClinic } from "./clinic.js";

/** What a storm goes over: two programs at the same hours that share their practitioners and patients. */
export interface StormGround {
  readonly serviceId: string;
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
  readonly cancellationReasonId: string;
  /** Who is merged into another makes room for somebody else. */
  readonly patientIds: string[];
  readonly practitionerIds: readonly string[];
  readonly programs: readonly { readonly programId: string; readonly ruleId: string }[];
}

/** How many patients there are: few, so that the storm finds each of them expected elsewhere now and then. */
const PATIENTS = 10;
const PRACTITIONERS = 3;

/** Lays the ground for a storm by a service. The capacities of its rules are small, and no storm lowers one. */
export async function layStormGround(service: TestService): Promise<StormGround> {
  const make = (maker: makers.Maker, count: number) =>
    Promise.all(Array.from({ length: count }, () => maker.create(service, {})));
  const [practitionerIds, patientIds, serviceId, cancellationReasonId] = await Promise.all([
    make(makers.practitioner, PRACTITIONERS),
    make(makers.patient, PATIENTS),
    makers.healthcareService.create(service, {}),
    makers.cancellationReason.create(service, {}),
  ]);
  const changes = { practitionerIds, serviceId };
  const [first, second] = await Promise.all([
    openClinic(service, { ...changes, rule: { dailyCapacity: 6 } }),
    openClinic(service, { ...changes, rule: { slotDurationMinutes: 40, dailyCapacity: 9 } }),
  ]);
  const { requestSourceId, appointmentTypeId } = first;
  const programs = [first, second].map(({ programId, ruleId }) => ({ programId, ruleId }));
  return {
    serviceId,
    requestSourceId,
    appointmentTypeId,
    cancellationReasonId,
    patientIds,
    practitionerIds,
    programs,
  };
}
