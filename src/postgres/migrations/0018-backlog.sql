-- Metrics read the schedules that are behind by the same conditions as background jobs, over all tenants: an active
-- program with an active location and a service.
-- Compatible from: 0015-appointment-lists
CREATE POLICY jobs_read ON locations FOR SELECT USING (current_setting('cupo.jobs', true) = 'on' AND active);
CREATE POLICY jobs_read ON program_services FOR SELECT USING (current_setting('cupo.jobs', true) = 'on');
