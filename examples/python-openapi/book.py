"""Registers a patient, books the first free slot, reads, moves and cancels the appointment."""

import json
import os
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timedelta, timezone

import access
import clinic

SERVICE = "a455bc8a-233a-5c14-82a9-40055e5894fa"
APPOINTMENT_TYPE = "76010db7-bb34-5073-998a-aee7e1f215da"
REQUEST_SOURCE = "6dd58654-4986-5c1d-9b28-f04a2d444c16"
CANCELLATION_REASON = "7d6a6ce8-5c49-5da2-8d13-860d4a07beb9"
ATTEMPTS = 4
BOGOTA = timezone(timedelta(hours=-5))


def sender(origin):
    """Returns a function that sends the requests of the generated functions to a listener."""

    def send(method, path, in_path, query, body, has_key):
        values = {name: urllib.parse.quote(value, safe="") for name, value in in_path.items()}
        pairs = {name: value for name, value in query.items() if value is not None}
        url = origin + path.format(**values) + (f"?{urllib.parse.urlencode(pairs, doseq=True)}" if pairs else "")
        headers = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": "application/json"}
        if has_key:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        data = None if body is None else json.dumps(body).encode()
        return answered(urllib.request.Request(url, data=data, headers=headers, method=method))

    return send


def answered(request):
    """Sends a request, and again with the same key where the answer says when or did not come."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            seconds = error.headers["Retry-After"]
            if seconds is None or attempt == ATTEMPTS:
                raise RuntimeError(error.read().decode()) from error
        except urllib.error.URLError:
            seconds = "1"
            if attempt == ATTEMPTS:
                raise
        time.sleep(float(seconds))


def day(days):
    return (datetime.now(BOGOTA) + timedelta(days=days)).date().isoformat()


def first_option(**wish):
    found = clinic.searchAppointmentOptions(inside, SERVICE, day(1), day(30), **wish)
    return found["options"][0]["optionToken"]


public = os.environ.get("CUPO_PUBLIC", "http://127.0.0.1:8080/api/external/v1")
outside = sender(public.removesuffix(urllib.parse.urlsplit(public).path))
inside = sender(os.environ.get("CUPO_INTERNAL", "http://127.0.0.1:9090"))

patient = access.registerPatient(outside, {
    "documentType": "CC",
    "documentNumber": str(random.randrange(10_000_000, 2_000_000_000)),
    "fullName": "Ana María Pérez",
    "phone": "+57 300 555 0100",
    "consentGrantedAt": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
})
print("registered", patient["id"])

booked = clinic.bookAppointment(inside, {
    "optionToken": first_option(patientId=patient["id"], appointmentTypeId=APPOINTMENT_TYPE),
    "patientId": patient["id"],
    "appointmentTypeId": APPOINTMENT_TYPE,
    "requestSourceId": REQUEST_SOURCE,
})
appointment = booked["appointmentId"]
print("booked", appointment, "at", booked["startsAt"])

version = clinic.getAppointment(inside, appointment)["version"]
option = first_option(appointmentId=appointment)
moved = access.rescheduleAppointment(outside, appointment, {"optionToken": option, "expectedVersion": version})
print(f"moved to {moved['startsAt']}, version {moved['version']}")

reason = {"expectedVersion": moved["version"], "cancellationReasonId": CANCELLATION_REASON}
cancelled = clinic.cancelAppointment(inside, appointment, reason)
print(f"{cancelled['status']}, version {cancelled['version']}")
