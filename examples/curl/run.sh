#!/bin/sh
# Registers and reschedules over REST; searches and books by the clinic's own operations, whose JSON is plain HTTP too.
set -eu
public=${CUPO_PUBLIC:-http://127.0.0.1:8080/api/external/v1}
internal=${CUPO_INTERNAL:-http://127.0.0.1:9090}
service=a455bc8a-233a-5c14-82a9-40055e5894fa
type=76010db7-bb34-5073-998a-aee7e1f215da
source=6dd58654-4986-5c1d-9b28-f04a2d444c16

# POST: the URL and the body. One key for all attempts; curl repeats 429, 503 and connections that fail, and keeps to Retry-After.
post() {
  curl --silent --show-error --fail --retry 3 --retry-connrefused --max-time 20 "$1" \
    -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: $(node -p 'crypto.randomUUID()')" \
    -H 'Content-Type: application/json' -d "$2"
}
of() { node -p "JSON.parse(require('fs').readFileSync(0)).$1"; }
day() { node -p "new Date(Date.now() + $1 * 864e5).toLocaleDateString('sv', { timeZone: 'America/Bogota' })"; }
wish='"serviceId":"'$service'","dateFrom":"'$(day 1)'","dateTo":"'$(day 30)'"'
booking=$internal/cupo.clinic.v1.BookingService

number=$(node -p 'crypto.randomInt(10_000_000, 2_000_000_000)')
consent=$(node -p 'new Date().toISOString()')
patient=$(post "$public/patients" '{"documentType":"CC","documentNumber":"'"$number"'","fullName":"Ana María Pérez",
  "phone":"+57 300 555 0100","consentGrantedAt":"'"$consent"'"}' | of id)
echo "registered $patient"

option=$(post "$booking/SearchAppointmentOptions" '{"patientId":"'"$patient"'","appointmentTypeId":"'$type'",'"$wish"'}' |
  of 'options[0].optionToken')
booked=$(post "$booking/BookAppointment" '{"optionToken":"'"$option"'","patientId":"'"$patient"'",
  "appointmentTypeId":"'$type'","requestSourceId":"'$source'"}')
appointment=$(echo "$booked" | of appointment.appointmentId)
echo "booked $appointment at $(echo "$booked" | of appointment.startsAt)"

option=$(post "$booking/SearchAppointmentOptions" '{"appointmentId":"'"$appointment"'",'"$wish"'}' |
  of 'options[0].optionToken')
version=$(echo "$booked" | of appointment.version)
moved=$(post "$public/appointments/$appointment/reschedule" '{"optionToken":"'"$option"'","expectedVersion":'"$version"'}')
echo "moved to $(echo "$moved" | of startsAt), version $(echo "$moved" | of version)"
