import * as makers from "../contract/makers.js";
import type { TestService } from "../support/service.js";
import { day, openClinic } from "./clinic.js";

/** What a storm goes over: two programs at the same hours that share their practitioners and patients, and one of today. */
export interface StormGround {
  readonly serviceId: string;
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
  readonly cancellationReasonId: string;
  readonly noShowReasonId: string;
  /** Who is merged into another makes room for somebody else. */
  readonly patientIds: string[];
  readonly practitionerIds: readonly string[];
  readonly programs: readonly { readonly programId: string; readonly ruleId: string }[];
  /** A program of today and tomorrow around the clock, with the same practitioners, for who walks in. */
  readonly walkInProgramId: string;
  /** How many appointments a day of each program holds. */
  readonly capacities: ReadonlyMap<string, number>;
}

/** How many patients there are: few, so that the storm finds each of them expected elsewhere now and then. */
const PATIENTS = 10;
const PRACTITIONERS = 3;
const CAPACITIES = [6, 9, 2] as const;

/** Lays the ground for a storm by a service. The capacities of its rules are small, and no storm lowers one. */
export async function layStormGround(service: TestService): Promise<StormGround> {
  const make = (maker: makers.Maker, count: number) =>
    Promise.all(Array.from({ length: count }, () => maker.create(service, {})));
  const [practitionerIds, patientIds, serviceId, cancellationReasonId, noShowReasonId] = await Promise.all([
    make(makers.practitioner, PRACTITIONERS),
    make(makers.patient, PATIENTS),
    makers.healthcareService.create(service, {}),
    makers.cancellationReason.create(service, {}),
    makers.noShowReason.create(service, {}),
  ]);
  const changes = { practitionerIds, serviceId };
  const [first, second, aroundTheClock] = await Promise.all([
    openClinic(service, { ...changes, rule: { dailyCapacity: CAPACITIES[0] } }),
    openClinic(service, { ...changes, rule: { slotDurationMinutes: 40, dailyCapacity: CAPACITIES[1] } }),
    openClinic(service, { ...changes, rule: aroundTheClockRule(service) }),
  ]);
  const { requestSourceId, appointmentTypeId } = first;
  const programs = [first, second].map(({ programId, ruleId }) => ({ programId, ruleId }));
  return {
    serviceId,
    requestSourceId,
    appointmentTypeId,
    cancellationReasonId,
    noShowReasonId,
    patientIds,
    practitionerIds,
    programs,
    walkInProgramId: aroundTheClock.programId,
    capacities: new Map([first, second, aroundTheClock].map(({ programId }, i) => [programId, CAPACITIES[i] ?? 0])),
  };
}

/** Room for fewer at a time than there are practitioners. */
function aroundTheClockRule(service: TestService) {
  return {
    startsAtLocal: "00:00:00",
    endsAtLocal: "23:45:00",
    slotDurationMinutes: 15,
    dailyCapacity: CAPACITIES[2],
    validFrom: day({ service }, 0),
    validTo: day({ service }, 1),
  };
}
