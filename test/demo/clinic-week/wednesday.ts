import { expect } from "vitest";
import { UserAttentionCase_Category as Category } from "../../../src/gen/cupo/access/v1/user_attention_case_pb.js";
import {
  WaitlistEntry_Status as EntryStatus,
  WaitlistEntry_Period as Period,
} from "../../../src/gen/cupo/access/v1/waitlist_entry_pb.js";
import {
  AppointmentDetails_Modality as Modality,
  AppointmentDetails_Status as Status,
} from "../../../src/gen/cupo/clinic/v1/appointment_details_pb.js";
import type { AppointmentHold } from "../../../src/gen/cupo/clinic/v1/appointment_hold_pb.js";
import { UserAttentionCaseDetails_Status as CaseStatus } from "../../../src/gen/cupo/clinic/v1/user_attention_case_details_pb.js";
import {
  WaitlistEntryDetails_Status as EntryDetailsStatus,
  WaitlistEntryDetails_Period as EntryPeriod,
} from "../../../src/gen/cupo/clinic/v1/waitlist_entry_details_pb.js";
import type { WriteTask } from "./tasks.js";
import { bookBySearch, findAppointment, findPatient } from "./usual-steps.js";
import { DATES, given, timeOf, type Week } from "./week.js";

const SARA = "Sara Lucía Wilches Beltrán";
const [LUZ, YURANI, ADRIANA] = [
  "Luz Dary Becerra Muñoz",
  "Yurani Paola Mosquera Lozano",
  "Adriana Milena Cifuentes Rozo",
];
const [OSCAR, VALENTINA, WILSON] = ["Óscar Iván Peñaloza Cruz", "Valentina Gómez Ibáñez", "Wilson Ferney Acuña Tovar"];

/** Wednesday: a cancellation, a move, a hold, the waitlist with offers of freed slots, notes and a complaint. */
export function wednesday(task: WriteTask): void {
  task("Cancel an appointment with a reason", async (week) => {
    week.itIs("Wednesday", "08:00");
    await bookBySearch(week, week.others, { whose: OSCAR, day: "Thursday", time: "07:00", with: "P-03" });
    await findAppointment(week, week.reception, { whose: OSCAR, day: "Thursday" });
    const { appointment } = await week.reception.booking.cancelAppointment({
      ...week.latest(OSCAR),
      cancellationReasonId: week.id("cancellation reason", "OTRA"),
      comment: "Viaja esta semana.",
    });
    expect(week.keep(OSCAR, appointment)).toMatchObject({ status: Status.CANCELLED, comment: "Viaja esta semana." });
  });

  task("Undo a cancellation", async (week) => {
    const { appointment } = await week.supervisor.booking.correctAppointmentStatus({
      ...week.latest(OSCAR),
      status: Status.PENDING,
      reason: "Viaja la otra semana.",
    });
    expect(week.keep(OSCAR, appointment)).toMatchObject({ status: Status.PENDING, displaced: false });
  });

  task("Move an appointment", async (week) => {
    await bookBySearch(week, week.others, { whose: VALENTINA, day: "Thursday", time: "07:20", with: "P-03" });
    await findAppointment(week, week.reception, { whose: VALENTINA, day: "Thursday" });
    const { appointmentId, expectedVersion } = week.latest(VALENTINA);
    const { options } = await week.reception.booking.searchAppointmentOptions({
      appointmentId,
      serviceId: week.id("service", "MEDGEN"),
      dateFrom: DATES.Friday,
      dateTo: DATES.Friday,
      practitionerId: week.id("practitioner", "P-03"),
    });
    const { optionToken, startsAt } = given(options[0]);
    const moved = await week.reception.rescheduling.rescheduleAppointment({
      appointmentId,
      expectedVersion,
      optionToken,
    });
    expect(moved.appointment).toMatchObject({ id: appointmentId, version: 2, startsAt });
  });

  task("Book an appointment of two slots", async (week) => {
    const booking = { whose: SARA, day: "Friday", time: "10:00", with: "P-03", type: "PRIMERA" } as const;
    const { startsAt, endsAt } = await bookBySearch(week, week.reception, booking);
    expect([timeOf(startsAt), timeOf(endsAt)]).toEqual(["10:00", "10:40"]);
  });

  holding(task);

  task("Put a patient on the waitlist", async (week) => {
    const { patientId } = await findPatient(week.reception, WILSON);
    const { waitlistEntry } = await week.reception.waitlist.createWaitlistEntry({
      patientId,
      serviceId: week.id("service", "ODONTO"),
      dateFrom: DATES.Wednesday,
      dateTo: DATES.Friday,
      preferredPeriods: [Period.AFTERNOON],
    });
    expect(waitlistEntry?.status).toBe(EntryStatus.ACTIVE);
  });

  task("Book for a waitlist entry and close it", async (week) => {
    const { booking, desk } = week.reception;
    const { waitlistEntries } = await desk.listWaitlistEntries({ statuses: [EntryDetailsStatus.ACTIVE] });
    const { waitlistEntryId, patientId } = given(waitlistEntries[0]);
    const { options } = await booking.matchWaitlistEntry({ waitlistEntryId });
    const { appointment } = await booking.bookAppointment({
      patientId,
      optionToken: given(options[0]).optionToken,
      requestSourceId: week.id("request source", "CALLCENTER"),
      appointmentTypeId: week.id("appointment type", "CONTROL"),
      waitlistEntryId,
    });
    expect(timeOf(week.keep(WILSON, appointment).startsAt)).toBe("13:00");
    const { waitlistEntry } = await week.others.desk.getWaitlistEntry({ waitlistEntryId });
    expect(waitlistEntry).toMatchObject({ status: EntryDetailsStatus.CLOSED, closedByActor: week.reception.actor });
  });

  task("Turn an appointment into a longer video visit", async (week) => {
    const { appointment } = await week.reception.booking.changeAppointment({
      ...week.latest(OSCAR),
      durationMinutes: 40,
      modality: Modality.VIDEO,
      joinLink: "https://video.example.com/sala-7",
    });
    expect(timeOf(week.keep(OSCAR, appointment).endsAt)).toBe("07:40");
  });

  offering(task);

  task("Change the wish of a waiting patient", async (week) => {
    const { desk } = week.reception;
    const { patientId } = await findPatient(week.reception, VALENTINA);
    const wish = { dateFrom: DATES.Thursday, dateTo: DATES.Saturday };
    const { waitlistEntry: entry } = await week.reception.waitlist.createWaitlistEntry({
      patientId,
      serviceId: week.id("service", "ODONTO"),
      ...wish,
      preferredPeriods: [Period.MORNING],
    });
    const { waitlistEntry } = await desk.changeWaitlistEntry({
      waitlistEntryId: given(entry).id,
      expectedVersion: 1,
      ...wish,
      preferredPeriods: [EntryPeriod.MORNING, EntryPeriod.AFTERNOON],
    });
    expect(given(waitlistEntry).earlierWishes).toMatchObject([{ ...wish, preferredPeriods: [EntryPeriod.MORNING] }]);
    expect(given(waitlistEntry).createdAt).toEqual(given(entry).createdAt);
  });

  task("Find who waits for a slot", async (week) => {
    const { occupancy, desk } = week.reception;
    const serviceId = week.id("service", "ODONTO");
    const { slots } = await occupancy.searchFreeSlots({ serviceId, dateFrom: DATES.Thursday, dateTo: DATES.Thursday });
    const { programId, practitionerId, startsAt } = given(slots[0]);
    const { waitlistEntries } = await desk.matchSlot({ programId, practitionerId, startsAt });
    expect(waitlistEntries.map(({ patientId }) => patientId)).toContain(week.kept(VALENTINA).patientId);
  });

  task("Write and read notes", async (week) => {
    const { notes } = week.reception;
    const { appointmentId, patientId } = week.kept(WILSON);
    await notes.createNote({ patientId, text: "Prefiere que lo llamen después de las cinco." });
    const { note } = await notes.createNote({ appointmentId, text: "Viene con su mamá." });
    expect(note?.createdByActor).toBe(week.reception.actor);
    const { notes: found } = await notes.listNotes({ appointmentId });
    expect(found.map(({ text }) => text)).toEqual(["Viene con su mamá."]);
  });

  task("Record, take and close a complaint", async (week) => {
    const { cases, desk } = week.reception;
    const { userAttentionCase } = await cases.createCase({
      category: Category.COMPLAINT,
      externalReference: "BUZON-0310",
      description: "Nadie contestó el teléfono por la mañana.",
      patientId: week.kept(OSCAR).patientId,
    });
    const userAttentionCaseId = given(userAttentionCase).id;
    const taken = await desk.takeCase({ userAttentionCaseId, expectedVersion: 1 });
    expect(taken.userAttentionCase).toMatchObject({ status: CaseStatus.OPEN, takenByActor: week.reception.actor });
    const reason = "Se llamó y se ofrecieron disculpas.";
    const closed = await desk.closeCase({ userAttentionCaseId, expectedVersion: 2, reason });
    expect(closed.userAttentionCase?.status).toBe(CaseStatus.CLOSED);
  });
}

/** A patient hesitates, and decides. */
function holding(task: WriteTask): void {
  let held: AppointmentHold;

  task("Hold a time while the patient decides", async (week) => {
    const { patientId } = await findPatient(week.reception, LUZ);
    const { options } = await week.reception.booking.searchAppointmentOptions({
      patientId,
      serviceId: week.id("service", "MEDGEN"),
      dateFrom: DATES.Friday,
      dateTo: DATES.Friday,
      practitionerId: week.id("practitioner", "P-01"),
    });
    const [optionToken, ...alternativeOptionTokens] = options.slice(0, 3).map((option) => option.optionToken);
    const { hold } = await week.reception.holds.holdAppointmentOption({
      optionToken: given(optionToken),
      alternativeOptionTokens,
    });
    held = given(hold);
    expect(held.startsAt).toEqual(options[0]?.startsAt);
  });

  task("Book the held time", async (week) => {
    const { appointment } = await week.reception.booking.bookAppointment({
      patientId: held.patientId,
      optionToken: given(held.optionToken),
      requestSourceId: week.id("request source", "CALLCENTER"),
      appointmentTypeId: week.id("appointment type", "CONTROL"),
    });
    expect(week.keep(LUZ, appointment).startsAt).toEqual(held.startsAt);
  });
}

/** A freed slot is offered to one patient of the waitlist, who refuses, and then to the next. */
function offering(task: WriteTask): void {
  task("Offer freed slots to the waitlist", async (week) => {
    await week.reception.settings.updateTenantSettings({ freedSlotOfferMinutes: 60, expectedVersion: 1 });
    for (const whose of [YURANI, ADRIANA]) await putOnWaitlist(week, whose);
    const freed = await bookBySearch(week, week.others, { whose: OSCAR, day: "Friday", time: "09:00", with: "P-03" });
    await week.others.booking.cancelAppointment({
      ...week.latest(OSCAR),
      cancellationReasonId: week.id("cancellation reason", "OTRA"),
      comment: "Sigue de viaje.",
    });
    await week.offerFreedSlots();
    const { holds } = await week.others.holds.listHolds({});
    expect(holds).toMatchObject([{ startsAt: freed.startsAt, practitionerId: freed.practitionerId }]);
  });

  task("Refuse an offer for a patient", async (week) => {
    const { holds } = await week.reception.holds.listHolds({});
    const { holdId, patientId } = given(holds.find(({ waitlistEntryId }) => waitlistEntryId !== undefined));
    expect(patientId).toBe((await findPatient(week.others, YURANI)).patientId);
    const { hold } = await week.reception.holds.releaseHold({ holdId });
    expect(hold?.endedAt).toBeDefined();
    await week.offerFreedSlots();
  });

  task("Book an offered time", async (week) => {
    const { holds } = await week.reception.holds.listHolds({});
    const { holdId } = given(holds.find(({ waitlistEntryId }) => waitlistEntryId !== undefined));
    const { patientId, waitlistEntryId, optionToken } = given((await week.reception.holds.getHold({ holdId })).hold);
    expect(patientId).toBe((await findPatient(week.others, ADRIANA)).patientId);
    const { appointment } = await week.reception.booking.bookAppointment({
      patientId,
      optionToken: given(optionToken),
      requestSourceId: week.id("request source", "CALLCENTER"),
      appointmentTypeId: week.id("appointment type", "CONTROL"),
      waitlistEntryId: given(waitlistEntryId),
    });
    expect(timeOf(week.keep(ADRIANA, appointment).startsAt)).toBe("09:00");
    const { waitlistEntry } = await week.others.desk.getWaitlistEntry({ waitlistEntryId: given(waitlistEntryId) });
    expect(waitlistEntry?.status).toBe(EntryDetailsStatus.CLOSED);
  });
}

async function putOnWaitlist(week: Week, whose: string): Promise<void> {
  await week.others.waitlist.createWaitlistEntry({
    patientId: (await findPatient(week.others, whose)).patientId,
    serviceId: week.id("service", "MEDGEN"),
    dateFrom: DATES.Wednesday,
    dateTo: DATES.Friday,
    preferredPeriods: [Period.MORNING],
  });
}
