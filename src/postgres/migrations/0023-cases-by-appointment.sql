-- For the cases about an appointment. They are also about its patient.
-- Compatible from: 0015-appointment-lists
CREATE INDEX user_attention_cases_appointment_idx ON user_attention_cases (tenant_id, appointment_id)
  WHERE appointment_id IS NOT NULL;
