#!/bin/sh
# Everything over gRPC by `buf curl`, which asks the listener for the definitions.
set -eu
cd "$(dirname "$0")/../.."
internal=${CUPO_INTERNAL:-http://127.0.0.1:9090}
service=a455bc8a-233a-5c14-82a9-40055e5894fa
type=76010db7-bb34-5073-998a-aee7e1f215da
source=6dd58654-4986-5c1d-9b28-f04a2d444c16

# The method and the body. One key for all attempts; what is unavailable (14 of gRPC, times 8 for buf) is tried again.
call() {
  key=$(node -p 'crypto.randomUUID()')
  for attempt in 1 2 3 4; do
    status=0
    node_modules/.bin/buf curl --protocol grpc --http2-prior-knowledge -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: $key" \
      -d "$2" "$internal/$1" || status=$?
    [ $status = 112 ] && [ $attempt -lt 4 ] || return $status
    sleep 1
  done
}
of() { node -p "JSON.parse(require('fs').readFileSync(0)).$1"; }
day() { node -p "new Date(Date.now() + $1 * 864e5).toLocaleDateString('sv', { timeZone: 'America/Bogota' })"; }
wish='"serviceId":"'$service'","dateFrom":"'$(day 1)'","dateTo":"'$(day 30)'"'

number=$(node -p 'crypto.randomInt(10_000_000, 2_000_000_000)')
consent=$(node -p 'new Date().toISOString()')
registered=$(call cupo.access.v1.PatientService/RegisterPatient '{"documentType":"CC","documentNumber":"'"$number"'",
  "fullName":"Ana María Pérez","phone":"+57 300 555 0100","consentGrantedAt":"'"$consent"'"}')
patient=$(echo "$registered" | of patient.id)
echo "registered $patient"

search=cupo.clinic.v1.BookingService/SearchAppointmentOptions
options=$(call $search '{"patientId":"'"$patient"'","appointmentTypeId":"'$type'",'"$wish"'}')
option=$(echo "$options" | of 'options[0].optionToken')
booked=$(call cupo.clinic.v1.BookingService/BookAppointment '{"optionToken":"'"$option"'","patientId":"'"$patient"'",
  "appointmentTypeId":"'$type'","requestSourceId":"'$source'"}')
appointment=$(echo "$booked" | of appointment.appointmentId)
echo "booked $appointment at $(echo "$booked" | of appointment.startsAt)"

options=$(call $search '{"appointmentId":"'"$appointment"'",'"$wish"'}')
option=$(echo "$options" | of 'options[0].optionToken')
version=$(echo "$booked" | of appointment.version)
moved=$(call cupo.access.v1.AppointmentService/RescheduleAppointment '{"appointmentId":"'"$appointment"'",
  "optionToken":"'"$option"'","expectedVersion":'"$version"'}')
echo "moved to $(echo "$moved" | of appointment.startsAt), version $(echo "$moved" | of appointment.version)"
