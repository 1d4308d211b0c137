-- What operators are told of schedules that are behind: the same that the background work goes by when it takes one, of all
-- tenants at once. An active program with an active location and a service is to be worked on.
-- Compatible from: 0015-appointment-lists
CREATE POLICY jobs_read ON locations FOR SELECT USING (current_setting('cupo.jobs', true) = 'on' AND active);
CREATE POLICY jobs_read ON program_services FOR SELECT USING (current_setting('cupo.jobs', true) = 'on');
