import type { ServiceImpl } from "@connectrpc/connect";
import type {
  CatalogService,
  CreateAppointmentTypeRequestValid,
  CreateCancellationReasonRequestValid,
  CreateContractRequestValid,
  CreatePayerRequestValid,
  CreateRequestSourceRequestValid,
  UpdateAppointmentTypeRequestValid,
  UpdateCancellationReasonRequestValid,
  UpdateConsultationTypeRequestValid,
  UpdateNoShowReasonRequestValid,
  UpdateRequestSourceRequestValid,
} from "../gen/cupo/access/v1/catalog_service_pb.js";
import {
  appointmentTypes,
  cancellationReasons,
  consultationTypes,
  contracts,
  noShowReasons,
  payers,
  requestSources,
} from "../postgres/catalogs.js";
import { opportunityDefinitions } from "../postgres/reference-data.js";
import * as to from "./catalog-messages.js";
import { requireVersion } from "./preconditions.js";
import { changesOf, createResource, lockResource, requireReferences, saveResource } from "./resources.js";

/** Administration of the catalogs (specification section 4.7). `now` gives milliseconds since the epoch. */
export function createCatalogService(now: () => number): ServiceImpl<typeof CatalogService> {
  return {
    async createAppointmentType(message, { values }) {
      const request = message as CreateAppointmentTypeRequestValid;
      const { code, name, durationMinutes, opportunityDefinitionId, active } = request;
      await requireReferences(values, [opportunityDefinition(opportunityDefinitionId)]);
      const attributes = { code, name, durationMinutes, opportunityDefinitionId, active };
      return { appointmentType: to.toAppointmentType(createResource(values, appointmentTypes, attributes, now())) };
    },
    async updateAppointmentType(message, { values }) {
      const request = message as UpdateAppointmentTypeRequestValid;
      const changes = changesOf(request);
      const current = await lockResource(values, appointmentTypes, request.id);
      await requireReferences(values, [opportunityDefinition(changes.opportunityDefinitionId)]);
      requireVersion(current, request.expectedVersion);
      return { appointmentType: to.toAppointmentType(saveResource(values, appointmentTypes, current, changes, now())) };
    },
    async createContract(message, { values }) {
      const { code, name, payerId, validFrom, validTo, active } = message as CreateContractRequestValid;
      await requireReferences(values, [{ field: "payerId", table: payers, id: payerId }]);
      const attributes = { code, name, payerId, validFrom, validTo, active };
      return { contract: to.toContract(createResource(values, contracts, attributes, now())) };
    },
    async updateConsultationType(message, { values }) {
      const request = message as UpdateConsultationTypeRequestValid;
      const current = await lockResource(values, consultationTypes, request.id);
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(values, consultationTypes, current, changesOf(request), now());
      return { consultationType: to.toConsultationType(updated) };
    },
    async createCancellationReason(message, { values }) {
      const { code, name, requiresComment, active } = message as CreateCancellationReasonRequestValid;
      const attributes = { code, name, requiresComment, active };
      return {
        cancellationReason: to.toCancellationReason(createResource(values, cancellationReasons, attributes, now())),
      };
    },
    async updateCancellationReason(message, { values }) {
      const request = message as UpdateCancellationReasonRequestValid;
      const current = await lockResource(values, cancellationReasons, request.id);
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(values, cancellationReasons, current, changesOf(request), now());
      return { cancellationReason: to.toCancellationReason(updated) };
    },
    async updateNoShowReason(message, { values }) {
      const request = message as UpdateNoShowReasonRequestValid;
      const current = await lockResource(values, noShowReasons, request.id);
      requireVersion(current, request.expectedVersion);
      const updated = saveResource(values, noShowReasons, current, changesOf(request), now());
      return { noShowReason: to.toNoShowReason(updated) };
    },
    async createRequestSource(message, { values }) {
      const { code, name, channel, active } = message as CreateRequestSourceRequestValid;
      const attributes = { code, name, channel: to.channelName(channel), active };
      return { requestSource: to.toRequestSource(createResource(values, requestSources, attributes, now())) };
    },
    async updateRequestSource(message, { values }) {
      const request = message as UpdateRequestSourceRequestValid;
      const { channel, ...changes } = changesOf(request);
      const current = await lockResource(values, requestSources, request.id);
      requireVersion(current, request.expectedVersion);
      const channelChange = channel === undefined ? {} : { channel: to.channelName(channel) };
      const updated = saveResource(values, requestSources, current, { ...changes, ...channelChange }, now());
      return { requestSource: to.toRequestSource(updated) };
    },
    async createPayer(message, { values }) {
      const { code, name, taxId, active } = message as CreatePayerRequestValid;
      return { payer: to.toPayer(createResource(values, payers, { code, name, taxId, active }, now())) };
    },
  };
}

function opportunityDefinition(id: string | undefined) {
  return { field: "opportunityDefinitionId", table: opportunityDefinitions, id };
}
