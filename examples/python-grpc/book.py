"""Registers a patient, books the first slot that is free and moves the appointment to another one."""

import os
import random
import time
import uuid
from datetime import datetime, timedelta, timezone

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from cupo.access.v1 import appointment_service_pb2 as access_appointments
from cupo.access.v1 import appointment_service_pb2_grpc, patient_service_pb2, patient_service_pb2_grpc
from cupo.clinic.v1 import booking_service_pb2 as bookings
from cupo.clinic.v1 import booking_service_pb2_grpc

SERVICE = "a455bc8a-233a-5c14-82a9-40055e5894fa"
APPOINTMENT_TYPE = "76010db7-bb34-5073-998a-aee7e1f215da"
REQUEST_SOURCE = "6dd58654-4986-5c1d-9b28-f04a2d444c16"
ATTEMPTS = 4
BOGOTA = timezone(timedelta(hours=-5))


def call(method, request):
    """Calls with a key of its own, and again with the same where the service says when, or could not be reached."""
    metadata = (("authorization", f"Bearer {os.environ['TOKEN']}"), ("idempotency-key", str(uuid.uuid4())))
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return method(request, metadata=metadata, timeout=20)
        except grpc.RpcError as error:
            answered = [*(error.initial_metadata() or ()), *(error.trailing_metadata() or ())]
            seconds = dict(answered).get("retry-after", "1" if error.code() == grpc.StatusCode.UNAVAILABLE else None)
            if seconds is None or attempt == ATTEMPTS:
                raise
            time.sleep(float(seconds))


def day(days):
    return (datetime.now(BOGOTA) + timedelta(days=days)).date().isoformat()


def shown(timestamp):
    return timestamp.ToDatetime(timezone.utc).isoformat()


address = os.environ.get("CUPO_INTERNAL", "http://127.0.0.1:9090").removeprefix("http://")
with grpc.insecure_channel(address) as channel:
    patients = patient_service_pb2_grpc.PatientServiceStub(channel)
    booking = booking_service_pb2_grpc.BookingServiceStub(channel)
    appointments = appointment_service_pb2_grpc.AppointmentServiceStub(channel)

    consent = Timestamp()
    consent.GetCurrentTime()
    registration = patient_service_pb2.RegisterPatientRequest(
        document_type="CC",
        document_number=str(random.randrange(10_000_000, 2_000_000_000)),
        full_name="Ana María Pérez",
        phone="+57 300 555 0100",
        consent_granted_at=consent,
    )
    patient = call(patients.RegisterPatient, registration).patient
    print(f"registered {patient.id}")

    wish = {"service_id": SERVICE, "date_from": day(1), "date_to": day(30)}
    search = bookings.SearchAppointmentOptionsRequest(
        patient_id=patient.id, appointment_type_id=APPOINTMENT_TYPE, **wish
    )
    option = call(booking.SearchAppointmentOptions, search).options[0]
    request = bookings.BookAppointmentRequest(
        option_token=option.option_token,
        patient_id=patient.id,
        appointment_type_id=APPOINTMENT_TYPE,
        request_source_id=REQUEST_SOURCE,
    )
    booked = call(booking.BookAppointment, request).appointment
    print(f"booked {booked.appointment_id} at {shown(booked.starts_at)}")

    search = bookings.SearchAppointmentOptionsRequest(appointment_id=booked.appointment_id, **wish)
    option = call(booking.SearchAppointmentOptions, search).options[0]
    request = access_appointments.RescheduleAppointmentRequest(
        appointment_id=booked.appointment_id, option_token=option.option_token, expected_version=booked.version
    )
    moved = call(appointments.RescheduleAppointment, request).appointment
    print(f"moved to {shown(moved.starts_at)}, version {moved.version}")
