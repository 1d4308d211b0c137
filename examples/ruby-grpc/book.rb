# Registers a patient, books the first slot that is free and moves the appointment to another one.
require "securerandom"
require "cupo/access/v1/appointment_service_services_pb"
require "cupo/access/v1/patient_service_services_pb"
require "cupo/clinic/v1/booking_service_services_pb"

SERVICE = "a455bc8a-233a-5c14-82a9-40055e5894fa"
APPOINTMENT_TYPE = "76010db7-bb34-5073-998a-aee7e1f215da"
REQUEST_SOURCE = "6dd58654-4986-5c1d-9b28-f04a2d444c16"
ATTEMPTS = 4

# Calls with a key of its own, and again with the same where the service says when, or could not be reached.
def call(stub, method, request)
  metadata = { "authorization" => "Bearer #{ENV.fetch("TOKEN")}", "idempotency-key" => SecureRandom.uuid }
  attempt = 0
  begin
    attempt += 1
    stub.public_send(method, request, metadata: metadata, deadline: Time.now + 20)
  rescue GRPC::BadStatus => error
    seconds = error.metadata["retry-after"] || ("1" if error.is_a?(GRPC::Unavailable))
    raise if seconds.nil? || attempt == ATTEMPTS

    sleep(seconds.to_f)
    retry
  end
end

def day(days)
  (Time.now.utc - 5 * 3600 + days * 86_400).strftime("%F")
end

def shown(timestamp)
  Time.at(timestamp.seconds).utc.strftime("%FT%TZ")
end

address = ENV.fetch("CUPO_INTERNAL", "http://127.0.0.1:9090").delete_prefix("http://")
patients, appointments = [Cupo::Access::V1::PatientService, Cupo::Access::V1::AppointmentService].map do |service|
  service::Stub.new(address, :this_channel_is_insecure)
end
bookings = Cupo::Clinic::V1::BookingService::Stub.new(address, :this_channel_is_insecure)

registration = Cupo::Access::V1::RegisterPatientRequest.new(
  document_type: "CC",
  document_number: rand(10_000_000..1_999_999_999).to_s,
  full_name: "Ana María Pérez",
  phone: "+57 300 555 0100",
  consent_granted_at: Google::Protobuf::Timestamp.new(seconds: Time.now.to_i)
)
patient = call(patients, :register_patient, registration).patient
puts "registered #{patient.id}"

wish = { service_id: SERVICE, date_from: day(1), date_to: day(30) }
search = Cupo::Clinic::V1::SearchAppointmentOptionsRequest.new(
  patient_id: patient.id, appointment_type_id: APPOINTMENT_TYPE, **wish
)
option = call(bookings, :search_appointment_options, search).options.first
request = Cupo::Clinic::V1::BookAppointmentRequest.new(
  option_token: option.option_token,
  patient_id: patient.id,
  appointment_type_id: APPOINTMENT_TYPE,
  request_source_id: REQUEST_SOURCE
)
booked = call(bookings, :book_appointment, request).appointment
puts "booked #{booked.appointment_id} at #{shown(booked.starts_at)}"

search = Cupo::Clinic::V1::SearchAppointmentOptionsRequest.new(appointment_id: booked.appointment_id, **wish)
option = call(bookings, :search_appointment_options, search).options.first
request = Cupo::Access::V1::RescheduleAppointmentRequest.new(
  appointment_id: booked.appointment_id, option_token: option.option_token, expected_version: booked.version
)
moved = call(appointments, :reschedule_appointment, request).appointment
puts "moved to #{shown(moved.starts_at)}, version #{moved.version}"
