import { create } from "@bufbuild/protobuf";
import { type OpportunityBreach, OpportunityBreachSchema } from "../../gen/cupo/clinic/v1/opportunity_breach_pb.js";
import type { OpportunityService } from "../../gen/cupo/clinic/v1/opportunity_service_pb.js";
import type { Implementation } from "../../implementation.js";
import {
  listOpportunityBreaches,
  type OpportunityBreachRecord,
} from "../../postgres/tables/opportunity/opportunity-breaches.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { dateAndIdAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { readIndicators } from "./indicators.js";

const LIST = "opportunity breaches";

/**
 * Returns the service that reports waiting times, and the appointments and waitlist entries that breach an opportunity
 * definition. `now` returns milliseconds since the epoch.
 */
export function createOpportunityService(now: () => number): Implementation<typeof OpportunityService> {
  return {
    async listOpportunityBreaches(request, call) {
      const { dateFrom: dueFrom, dateTo: dueTo, serviceId } = request;
      const filters = [dueFrom, dueTo, serviceId];
      const page = readPage(request, LIST, filters);
      const cursor = dateAndIdAfter(page);
      const found = await listOpportunityBreaches(call.transaction, {
        today: localDateAt(now()),
        dueFrom,
        dueTo,
        serviceId,
        after: cursor && { dueOn: cursor.date, id: cursor.id },
        limit: page.size + 1,
      });
      const { rows, next } = cutPage(found, page, ({ dueOn, id }) => [dueOn, id], LIST, filters);
      return { opportunityBreaches: rows.map(toOpportunityBreach), ...next };
    },
    async getOpportunityIndicators(request, call) {
      return { opportunityIndicators: await readIndicators(request, call, now()) };
    },
  };
}

function toOpportunityBreach(kept: OpportunityBreachRecord): OpportunityBreach {
  const { id, isAppointment, serviceId, requestedOn, dueOn, appointmentTypeId, appointmentOn } = kept;
  return create(OpportunityBreachSchema, {
    ...(isAppointment ? { appointmentId: id } : { waitlistEntryId: id }),
    ...(appointmentTypeId === undefined ? {} : { appointmentTypeId }),
    ...(appointmentOn === undefined ? {} : { appointmentOn }),
    serviceId,
    requestedOn,
    dueOn,
  });
}
