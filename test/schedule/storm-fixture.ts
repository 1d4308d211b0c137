import { vi } from "vitest";
import { offerFreedSlots as offerSlots } from "../../src/jobs/offer-freed-slots.js";
import * as fixtures from "../contract/fixtures.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { withoutNewMembers } from "../support/released-members.js";
import type { TestService } from "../support/service.js";
import { day, mustCall, openClinic } from "./clinic.js";

/**
 * The resources of a storm: two programs with the same hours, practitioners and patients, and one for walk-ins today.
 */
export interface StormFixture {
  readonly serviceId: string;
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
  readonly cancellationReasonId: string;
  readonly noShowReasonId: string;
  /** A patient who was merged into another is replaced by a new one. */
  readonly patientIds: string[];
  readonly practitionerIds: readonly string[];
  readonly programs: readonly { readonly programId: string; readonly ruleId: string }[];
  /** A program for walk-ins, around the clock today and tomorrow, with the same practitioners. */
  readonly walkInProgramId: string;
  /** Daily capacity by program id. */
  readonly capacities: ReadonlyMap<string, number>;
}

/** Number of patients. There are few, so that a patient often has another appointment at the same time. */
const PATIENTS = 10;
const PRACTITIONERS = 3;
const CAPACITIES = [6, 9, 2] as const;

/** No storm lasts longer. */
const LONGEST_MS = 3_600_000;

/** Creates the resources of a storm. The daily capacities are small, and no storm lowers one. */
export async function createStormFixture(service: TestService): Promise<StormFixture> {
  const make = (maker: fixtures.FixtureFactory, count: number) =>
    Promise.all(Array.from({ length: count }, () => maker.create(service, {})));
  const [practitionerIds, patientIds, serviceId, cancellationReasonId, noShowReasonId] = await Promise.all([
    make(fixtures.practitioner, PRACTITIONERS),
    Promise.all(Array.from({ length: PATIENTS }, () => fixtures.createPatient(service, withoutNewMembers()))),
    fixtures.healthcareService.create(service, {}),
    fixtures.cancellationReason.create(service, {}),
    fixtures.noShowReason.create(service, {}),
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

/** The capacity is smaller than the number of practitioners. */
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

/** How long an offer lasts: as briefly as possible. */
export const OFFER_MINUTES = 5;

/** Offers freed slots, and puts each patient on the waitlist for the next days. */
export async function offerFreedSlots(
  service: TestService,
  { patientIds, serviceId }: StormFixture,
  days: number,
): Promise<void> {
  const clinic = { service, as: {} };
  await mustCall(clinic, "UpdateTenantSettings", { freedSlotOfferMinutes: OFFER_MINUTES, expectedVersion: 1 });
  const wish = { serviceId, dateFrom: day(clinic, 0), dateTo: day(clinic, days + 2), preferredPeriods: ["MORNING"] };
  for (const patientId of patientIds) await mustCall(clinic, "CreateWaitlistEntry", { ...wish, patientId });
}

/**
 * Does the job that offers freed slots every second until the storm is over, because the schedule of a storm changes too
 * fast for that of a minute. Its connections are lost when PostgreSQL is killed.
 */
export async function offerUntil(
  isOver: () => boolean,
  databaseUrl: string,
  note?: () => Promise<void>,
): Promise<void> {
  const database = openServiceDatabase(databaseUrl);
  const work = async () => {
    await offerSlots({ database, now: Date.now }).catch(() => undefined);
    await note?.();
    return isOver();
  };
  await vi.waitUntil(work, { timeout: LONGEST_MS, interval: 1_000 });
  await database.close();
}
