import type { JsonObject } from "@bufbuild/protobuf";
import { offerFreedSlots } from "../../src/jobs/offer-freed-slots.js";
import type { Database } from "../../src/postgres/database.js";
import {
  type AppointmentBody,
  bookFirst,
  type Clinic,
  type ClinicChanges,
  day,
  mustCall,
  openClinic,
} from "../schedule/clinic.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { cancel, MINUTE_MS, newPatient, newTenant } from "./time-events-under-test.js";

/** How long the offers of the tests last. */
export const OFFER_MINUTES = 30;

/** An offer, in its JSON form. */
export interface OfferBody {
  readonly holdId: string;
  readonly patientId: string;
  readonly waitlistEntryId: string;
  readonly startsAt: string;
  readonly expiresAt: string;
  readonly optionToken?: string;
}

/** An open waitlist entry and its patient. */
export interface Waiting {
  readonly waitlistEntryId: string;
  readonly patientId: string;
}

/** Opens a clinic of a new tenant that offers freed slots, with changes that may depend on the tenant. */
export async function openOfferingClinic(
  service: TestService,
  changesFor: (as: TokenFor) => Promise<ClinicChanges> = async () => ({}),
): Promise<Clinic> {
  const as = newTenant();
  const clinic = await openClinic(service, { ...(await changesFor(as)), as });
  await offerFor(clinic, OFFER_MINUTES, 1);
  return clinic;
}

/** Sets for how long the tenant offers freed slots; undefined for not at all. */
export async function offerFor(clinic: Clinic, minutes: number | undefined, expectedVersion: number): Promise<void> {
  const setting = minutes === undefined ? {} : { freedSlotOfferMinutes: minutes };
  await mustCall(clinic, "UpdateTenantSettings", { ...setting, expectedVersion, updateMask: "freedSlotOfferMinutes" });
}

/** Runs the job once, at the service's clock. Returns the number of offers of the clinic's tenant. */
export async function runOffers(database: Database, { service, as }: Clinic): Promise<number> {
  const offering: string[] = [];
  await offerFreedSlots({ database, now: service.now, onCommitted: (tenantId) => void offering.push(tenantId) });
  return offering.filter((tenantId) => tenantId === as.tenantId).length;
}

/** Adds a patient to the waitlist, for any time of the next ten days, and waits a minute. */
export async function wait(clinic: Clinic, changes: JsonObject = {}): Promise<Waiting> {
  const patientId = await newPatient(clinic);
  const wish = {
    serviceId: clinic.serviceId,
    dateFrom: day(clinic, 0),
    dateTo: day(clinic, 10),
    preferredPeriods: ["MORNING", "AFTERNOON"],
    ...changes,
    patientId,
  };
  const { waitlistEntry } = await mustCall(clinic, "CreateWaitlistEntry", wish);
  clinic.service.stopAt(clinic.service.now() + MINUTE_MS);
  return { waitlistEntryId: (waitlistEntry as { readonly id: string }).id, patientId };
}

/** Books the first option of the day after tomorrow for a new patient and cancels it. Returns the appointment. */
export async function freeSlot(clinic: Clinic): Promise<AppointmentBody> {
  const appointment = await bookFirst(clinic, await newPatient(clinic));
  await cancel(clinic, appointment);
  return appointment;
}

/** Returns the live offers to waitlist entries, without their tokens. */
export async function offersOf(clinic: Clinic, filter: JsonObject = {}): Promise<OfferBody[]> {
  const { holds = [] } = await mustCall(clinic, "ListHolds", filter);
  return (holds as unknown as OfferBody[]).filter(({ waitlistEntryId }) => waitlistEntryId !== undefined);
}

/** Returns the only live offer of the clinic, with its token. */
export async function onlyOffer(clinic: Clinic): Promise<Required<OfferBody>> {
  const [offer, ...others] = await offersOf(clinic);
  if (offer === undefined || others.length > 0) throw new Error("one live offer was expected");
  return (await mustCall(clinic, "GetHold", { holdId: offer.holdId }))["hold"] as unknown as Required<OfferBody>;
}

/** Moves the clock to the expiry of an offer. */
export function lapse({ service }: Clinic, { expiresAt }: Pick<OfferBody, "expiresAt">): void {
  service.stopAt(Date.parse(expiresAt));
}
