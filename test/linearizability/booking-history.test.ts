import { describe, expect, test } from "vitest";
import type { RestAnswer } from "../support/rest-request.js";
import { brokenAppointments } from "./appointment-register.js";
import { booked, CAPACITIES, cancelled, confirmed, LATER, PLACEMENT } from "./booking-fixtures.js";
import { openBookingHistory } from "./booking-history.js";
import type { Shown } from "./booking-traces.js";
import { brokenUnits } from "./capacity-units.js";

describe("the history of calls and answers", () => {
  const request = { appointmentId: "a" };

  test("has a legal order if each answer is correct", () => {
    const history = openBookingHistory(tick);
    tell(
      history,
      "SearchAppointmentOptions",
      { patientId: "p" },
      { options: [{ ...PLACEMENT, optionToken: "token" }] },
    );
    tell(history, "BookAppointment", { patientId: "p", optionToken: "token" }, appointment(booked));
    tell(history, "ConfirmAppointment", { ...request, expectedVersion: 1 }, appointment(confirmed));
    tell(history, "GetAppointment", request, appointment(confirmed));
    expect(violationsOf(history)).toEqual([]);
  });

  test("has none if an answer is stale", () => {
    const history = openBookingHistory(tick);
    tell(history, "BookAppointment", { patientId: "p", optionToken: "token" }, appointment(booked));
    tell(history, "CancelAppointment", { ...request, expectedVersion: 1 }, appointment(cancelled));
    tell(history, "GetAppointment", request, appointment(booked));
    expect(violationsOf(history)).toEqual([expect.stringMatching(/^appointment a has no legal order/)]);
  });

  test("has none if a search shows a booked time", () => {
    const history = openBookingHistory(tick);
    tell(history, "BookAppointment", { patientId: "p", optionToken: "token" }, appointment(booked));
    tell(
      history,
      "SearchAppointmentOptions",
      { patientId: "q" },
      { options: [{ ...PLACEMENT, optionToken: "stale" }] },
    );
    expect(violationsOf(history)).not.toEqual([]);
  });

  test("has the changes of each appointment of a series, and none if one of them is stale", () => {
    const history = openBookingHistory(tick);
    tell(history, "BookSeries", { patientId: "p" }, { appointments: [{ ...booked, appointmentId: "a" }] });
    tell(history, "CancelSeries", {}, { appointments: [{ ...cancelled, appointmentId: "a" }] });
    tell(history, "BookTogether", {}, { appointments: [{ ...booked, appointmentId: "c" }] });
    expect(violationsOf(history)).toEqual([]);
    tell(history, "GetAppointment", request, appointment(booked));
    expect(violationsOf(history)).toEqual([expect.stringMatching(/^appointment a has no legal order/)]);
  });

  test("has the appointments that two practitioners exchange", () => {
    const history = openBookingHistory(tick);
    tell(history, "BookAppointment", { patientId: "p", optionToken: "token" }, appointment(booked));
    const exchanged = { ...booked, appointmentId: "a", version: 2, practitionerId: "other" };
    tell(history, "SwapPractitioners", {}, { appointments: [exchanged] });
    tell(history, "GetAppointment", request, appointment(exchanged));
    expect(violationsOf(history)).toEqual([]);
  });

  test("uses the placement of the option for a reschedule", () => {
    const history = openBookingHistory(tick);
    tell(history, "BookAppointment", { patientId: "p", optionToken: "token" }, appointment(booked));
    tell(history, "SearchAppointmentOptions", request, { options: [{ ...LATER, optionToken: "later" }] });
    const { startsAt, endsAt } = LATER;
    const moved = { id: "a", version: 2, status: "PENDING", startsAt, endsAt };
    const change = { ...request, expectedVersion: 1, optionToken: "later" };
    tell(history, "RescheduleAppointment", change, { appointment: moved });
    expect(violationsOf(history)).toEqual([]);
    tell(
      history,
      "BookAppointmentAt",
      { patientId: "q" },
      { appointment: { ...booked, ...LATER, appointmentId: "b" } },
    );
    expect(violationsOf(history)).not.toEqual([]);
  });

  test("has none if a time was booked while a job offered it, and one if the offer was booked or had ended", () => {
    const offer = { kind: "HELD", holdId: "h", patientId: "p", appointmentId: undefined, lastsMs: 1_000 } as const;
    const offered = (hasEnded = false) => {
      const history = openBookingHistory(tick);
      history.noteOffer({ ...offer, placement: PLACEMENT }, tick(), hasEnded);
      tell(history, "GetHold", { holdId: "h" }, { hold: { ...PLACEMENT, holdId: "h", optionToken: "offered" } });
      return history;
    };
    const [sound, broken, ended] = [offered(), offered(), offered(true)];
    tell(sound, "BookAppointment", { patientId: "p", optionToken: "offered" }, appointment(booked));
    expect(violationsOf(sound)).toEqual([]);
    tell(broken, "BookAppointmentAt", { patientId: "q" }, appointment({ ...booked, ...PLACEMENT }));
    expect(violationsOf(broken)).not.toEqual([]);
    tell(ended, "BookAppointmentAt", { patientId: "q" }, appointment({ ...booked, ...PLACEMENT }));
    expect(violationsOf(ended)).toEqual([]);
  });

  test("knows what the token of a hold books, however many options follow", () => {
    const history = openBookingHistory(tick);
    const hold = { ...PLACEMENT, holdId: "h", patientId: "p", optionToken: "held" };
    tell(history, "HoldAppointmentOption", { optionToken: "token" }, { hold });
    for (let page = 0; page < 25; page += 1) {
      const options = Array.from({ length: 1_000 }, (_, index) => ({ ...LATER, optionToken: `${page} ${index}` }));
      tell(history, "SearchAppointmentOptions", {}, { options });
    }
    tell(history, "BookAppointment", { patientId: "p", optionToken: "held" }, appointment(booked));
    expect(violationsOf(history)).toEqual([]);
  });
});

let moment = 0;
/** Returns another time on each call. */
const tick = () => {
  moment += 1;
  return moment;
};

function appointment(what: Shown) {
  return { appointment: { ...what, appointmentId: "a" } };
}

type History = ReturnType<typeof openBookingHistory>;

function tell(history: History, rpc: string, request: Parameters<History["note"]>[1], body: RestAnswer["body"]): void {
  history.note(rpc, request, tick(), { status: 200, headers: new Headers(), text: "", body });
}

function violationsOf({ operations }: History): string[] {
  return [...brokenAppointments(operations), ...brokenUnits(operations, CAPACITIES)];
}
