import type { CatalogService } from "../../gen/cupo/access/v1/catalog_service_pb.js";
import { RequestSource_Channel } from "../../gen/cupo/access/v1/request_source_pb.js";
import type { Implementation } from "../../implementation.js";
import {
  appointmentTypes,
  cancellationReasons,
  consultationTypes,
  contracts,
  noShowReasons,
  payers,
  requestSources,
} from "../../postgres/tables/catalogs/catalogs.js";
import { opportunityDefinitions } from "../../postgres/tables/catalogs/reference-data.js";
import { nameIn } from "../resources/enum-names.js";
import { requireVersion } from "../resources/preconditions.js";
import {
  changesOf,
  createResource,
  lockReferring,
  lockResource,
  requireReferences,
  saveResource,
} from "../resources/resources.js";
import * as to from "./catalog-messages.js";

/**
 * Creates the service that administers catalogs (specification section 4.7). `now` returns milliseconds since the
 * epoch.
 */
export function createCatalogService(now: () => number): Implementation<typeof CatalogService> {
  return {
    async createAppointmentType(request, call) {
      const { code, name, durationMinutes, opportunityDefinitionId, active } = request;
      await requireReferences(call, [opportunityDefinition(opportunityDefinitionId)]);
      const attributes = { code, name, durationMinutes, bufferMinutes: 0, opportunityDefinitionId, active };
      return { appointmentType: to.toAppointmentType(createResource(call, appointmentTypes, attributes, now())) };
    },
    async updateAppointmentType(request, call) {
      const changes = changesOf(request);
      const references = [opportunityDefinition(changes.opportunityDefinitionId)];
      const current = await lockReferring(call, appointmentTypes, request.id, references, "id");
      requireVersion(current, request.expectedVersion);
      return { appointmentType: to.toAppointmentType(saveResource(call, appointmentTypes, current, changes, now())) };
    },
    async createContract({ code, name, payerId, validFrom, validTo, active }, call) {
      await requireReferences(call, [{ field: "payerId", table: payers, id: payerId }]);
      const attributes = { code, name, payerId, validFrom, validTo, active };
      return { contract: to.toContract(createResource(call, contracts, attributes, now())) };
    },
    async updateConsultationType(request, call) {
      const current = await lockResource(call, consultationTypes, request.id, "id");
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(call, consultationTypes, current, changesOf(request), now());
      return { consultationType: to.toConsultationType(updated) };
    },
    async createCancellationReason({ code, name, requiresComment, active }, call) {
      const attributes = { code, name, requiresComment, active };
      return {
        cancellationReason: to.toCancellationReason(createResource(call, cancellationReasons, attributes, now())),
      };
    },
    async updateCancellationReason(request, call) {
      const current = await lockResource(call, cancellationReasons, request.id, "id");
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(call, cancellationReasons, current, changesOf(request), now());
      return { cancellationReason: to.toCancellationReason(updated) };
    },
    async updateNoShowReason(request, call) {
      const current = await lockResource(call, noShowReasons, request.id, "id");
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(call, noShowReasons, current, changesOf(request), now());
      return { noShowReason: to.toNoShowReason(updated) };
    },
    async createRequestSource({ code, name, channel, active }, call) {
      const attributes = { code, name, channel: nameIn(RequestSource_Channel, channel), active };
      return { requestSource: to.toRequestSource(createResource(call, requestSources, attributes, now())) };
    },
    async updateRequestSource(request, call) {
      const { channel, ...changes } = changesOf(request);
      const current = await lockResource(call, requestSources, request.id, "id");
      requireVersion(current, request.expectedVersion);
      const channelChange = channel === undefined ? {} : { channel: nameIn(RequestSource_Channel, channel) };
      const updated = saveResource(call, requestSources, current, { ...changes, ...channelChange }, now());
      return { requestSource: to.toRequestSource(updated) };
    },
    async createPayer({ code, name, taxId, active }, call) {
      return { payer: to.toPayer(createResource(call, payers, { code, name, taxId, active }, now())) };
    },
  };
}

function opportunityDefinition(id: string | undefined) {
  return { field: "opportunityDefinitionId", table: opportunityDefinitions, id };
}
