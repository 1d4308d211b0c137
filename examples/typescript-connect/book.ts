import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { timestampDate, timestampNow } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AppointmentService } from "./gen/cupo/access/v1/appointment_service_pb.js";
import { PatientService } from "./gen/cupo/access/v1/patient_service_pb.js";
import { BookingService } from "./gen/cupo/clinic/v1/booking_service_pb.js";

const serviceId = "a455bc8a-233a-5c14-82a9-40055e5894fa";
const appointmentTypeId = "76010db7-bb34-5073-998a-aee7e1f215da";
const requestSourceId = "6dd58654-4986-5c1d-9b28-f04a2d444c16";
const ATTEMPTS = 4;

const identified: Interceptor = (next) => (request) => {
  request.header.set("authorization", `Bearer ${process.env["TOKEN"] ?? ""}`);
  request.header.set("idempotency-key", randomUUID());
  return next(request);
};

/** Stands behind the one above, so that every attempt has the same key. */
const repeated: Interceptor = (next) => async (request) => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await next(request);
    } catch (thrown) {
      const error = ConnectError.from(thrown);
      const seconds = Number(error.metadata.get("retry-after") ?? (error.code === Code.Unavailable ? 1 : Number.NaN));
      if (Number.isNaN(seconds) || attempt === ATTEMPTS) throw error;
      await delay(seconds * 1_000);
    }
  }
};

const transport = createConnectTransport({
  baseUrl: process.env["CUPO_INTERNAL"] ?? "http://127.0.0.1:9090",
  httpVersion: "2",
  interceptors: [identified, repeated],
});
const patients = createClient(PatientService, transport);
const bookings = createClient(BookingService, transport);
const appointments = createClient(AppointmentService, transport);

const { patient } = await patients.registerPatient({
  documentType: "CC",
  documentNumber: String(randomInt(10_000_000, 2_000_000_000)),
  fullName: "Ana María Pérez",
  phone: "+57 300 555 0100",
  consentGrantedAt: timestampNow(),
});
const patientId = patient?.id ?? "";
console.log(`registered ${patientId}`);

const wish = { serviceId, dateFrom: dayFromNow(1), dateTo: dayFromNow(30) };
const [option] = (await bookings.searchAppointmentOptions({ ...wish, patientId, appointmentTypeId })).options;
if (option === undefined) throw new Error("nothing is free");
const { appointment } = await bookings.bookAppointment({
  optionToken: option.optionToken,
  patientId,
  appointmentTypeId,
  requestSourceId,
});
if (appointment?.startsAt === undefined) throw new Error("nothing was booked");
const { appointmentId, version } = appointment;
console.log(`booked ${appointmentId} at ${timestampDate(appointment.startsAt).toISOString()}`);

const others = await bookings.searchAppointmentOptions({ ...wish, appointmentId });
const { appointment: moved } = await appointments.rescheduleAppointment({
  appointmentId,
  optionToken: others.options[0]?.optionToken ?? "",
  expectedVersion: version,
});
if (moved?.startsAt === undefined) throw new Error("nothing was moved");
console.log(`moved to ${timestampDate(moved.startsAt).toISOString()}, version ${moved.version}`);

/** A date of Bogotá, as YYYY-MM-DD. */
function dayFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toLocaleDateString("sv", { timeZone: "America/Bogota" });
}
