-- Distributes the tables of tenants by tenant_id, after `cupo migrate` and before the service starts: README.md says how.
-- Each statement commits by itself. One for a table that is already distributed fails and changes nothing. Tables come
-- after those that they refer to. test/postgres/distribution.test.ts compares this list with the tables of the migrations.
--
-- These stay on the coordinator, as ordinary tables: option_token_keys, webhook_keys, schema_compatibility,
-- schema_migrations, schema_migrations_lock, schema_partitions, and the schema graphile_worker. No foreign key connects them with tables of tenants.

-- The functions in policies of row-level security, which each worker needs.
SELECT create_distributed_function('cupo_tenant_id()');
SELECT create_distributed_function('cupo_purge_limit(interval)');

SELECT create_distributed_table('patients', 'tenant_id', colocate_with => 'none');
SELECT create_distributed_table('locations', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('opportunity_definitions', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('healthcare_services', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('practitioners', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('appointment_types', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('consultation_types', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('cancellation_reasons', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('no_show_reasons', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('request_sources', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('payers', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('contracts', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('contract_services', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('programs', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('program_services', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('program_practitioners', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('program_rules', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('holidays', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('calendars', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('schedule_blocks', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('appointments', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('appointment_history', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('slots', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('day_counters', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('waitlist_entries', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('user_attention_cases', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('notes', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('eligibility_decisions', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('patient_access_records', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('patient_changes', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('patient_consents', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('patient_search_words', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('consumed_option_tokens', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('idempotency_keys', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('audit_events', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('event_outbox', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('event_feeds', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('event_positions', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('quota_windows', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('webhooks', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('webhook_deliveries', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('tenants', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('tenant_settings', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('tenant_settings_history', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('time_event_progress', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('import_sources', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('imported_resources', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('appointment_holds', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('hold_holders', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('opportunity_changes', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('opportunity_summaries', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('opportunity_states', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('unfilled_minutes', 'tenant_id', colocate_with => 'patients');
SELECT create_distributed_table('freed_slots', 'tenant_id', colocate_with => 'patients');
