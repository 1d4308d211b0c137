#!/bin/sh
# Registers and reschedules on the public listener; searches, books, reads and cancels on the internal one.
set -eu
public=${CUPO_PUBLIC:-http://127.0.0.1:8080/api/external/v1}
clinic=${CUPO_INTERNAL:-http://127.0.0.1:9090}/api/clinic/v1
service=a455bc8a-233a-5c14-82a9-40055e5894fa
type=76010db7-bb34-5073-998a-aee7e1f215da
source=6dd58654-4986-5c1d-9b28-f04a2d444c16
reason=7d6a6ce8-5c49-5da2-8d13-860d4a07beb9

# curl repeats 429, 503 and connections that fail, and keeps to Retry-After.
get() {
  curl --silent --show-error --fail --retry 3 --retry-connrefused --max-time 20 "$@" -H "Authorization: Bearer $TOKEN"
}
# POST: the URL and the body. One key for all attempts.
post() {
  get "$1" -H "Idempotency-Key: $(node -p 'crypto.randomUUID()')" -H 'Content-Type: application/json' -d "$2"
}
of() { node -p "JSON.parse(require('fs').readFileSync(0)).$1"; }
day() { node -p "new Date(Date.now() + $1 * 864e5).toLocaleDateString('sv', { timeZone: 'America/Bogota' })"; }
wish="serviceId=$service&dateFrom=$(day 1)&dateTo=$(day 30)"
option() { get "$clinic/appointment-options?$1&$wish" | of 'options[0].optionToken'; }

number=$(node -p 'crypto.randomInt(10_000_000, 2_000_000_000)')
consent=$(node -p 'new Date().toISOString()')
patient=$(post "$public/patients" '{"documentType":"CC","documentNumber":"'"$number"'","fullName":"Ana María Pérez",
  "phone":"+57 300 555 0100","consentGrantedAt":"'"$consent"'"}' | of id)
echo "registered $patient"

option=$(option "patientId=$patient&appointmentTypeId=$type")
booked=$(post "$clinic/appointments" '{"optionToken":"'"$option"'","patientId":"'"$patient"'",
  "appointmentTypeId":"'$type'","requestSourceId":"'$source'"}')
appointment=$(echo "$booked" | of appointmentId)
echo "booked $appointment at $(echo "$booked" | of startsAt)"

option=$(option "appointmentId=$appointment")
version=$(get "$clinic/appointments/$appointment" | of version)
moved=$(post "$public/appointments/$appointment/reschedule" '{"optionToken":"'"$option"'","expectedVersion":'"$version"'}')
echo "moved to $(echo "$moved" | of startsAt), version $(echo "$moved" | of version)"

version=$(echo "$moved" | of version)
cancelled=$(post "$clinic/appointments/$appointment:cancel" '{"expectedVersion":'"$version"',"cancellationReasonId":"'$reason'"}')
echo "$(echo "$cancelled" | of status), version $(echo "$cancelled" | of version)"
