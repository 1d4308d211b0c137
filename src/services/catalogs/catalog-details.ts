import { create } from "@bufbuild/protobuf";
import {
  type AppointmentTypeDetails,
  AppointmentTypeDetailsSchema,
} from "../../gen/cupo/clinic/v1/appointment_type_details_pb.js";
import {
  type CancellationReasonDetails,
  CancellationReasonDetailsSchema,
} from "../../gen/cupo/clinic/v1/cancellation_reason_details_pb.js";
import {
  type ConsultationTypeDetails,
  ConsultationTypeDetailsSchema,
} from "../../gen/cupo/clinic/v1/consultation_type_details_pb.js";
import { type ContractDetails, ContractDetailsSchema } from "../../gen/cupo/clinic/v1/contract_details_pb.js";
import { type CoveredServices, CoveredServicesSchema } from "../../gen/cupo/clinic/v1/covered_services_pb.js";
import {
  type NoShowReasonDetails,
  NoShowReasonDetailsSchema,
} from "../../gen/cupo/clinic/v1/no_show_reason_details_pb.js";
import { type PayerDetails, PayerDetailsSchema } from "../../gen/cupo/clinic/v1/payer_details_pb.js";
import {
  type RequestSourceDetails,
  RequestSourceDetails_Channel,
  RequestSourceDetailsSchema,
} from "../../gen/cupo/clinic/v1/request_source_details_pb.js";
import type {
  AppointmentTypeAttributes,
  ConsultationTypeAttributes,
  ContractAttributes,
  PayerAttributes,
  ReasonAttributes,
  RequestSourceAttributes,
} from "../../postgres/tables/catalogs/catalogs.js";
import type { CoveredServiceSet } from "../../postgres/tables/catalogs/covered-services.js";
import type { ResourceRecord } from "../../postgres/tables/resources/resources.js";
import { timesOf } from "../resources/resource-times.js";

export function toAppointmentTypeDetails({
  id,
  ...kept
}: ResourceRecord<AppointmentTypeAttributes>): AppointmentTypeDetails {
  return create(AppointmentTypeDetailsSchema, { appointmentTypeId: id, ...kept, ...timesOf(kept) });
}

export function toConsultationTypeDetails({
  id,
  description,
  ...kept
}: ResourceRecord<ConsultationTypeAttributes>): ConsultationTypeDetails {
  const described = description === undefined ? {} : { description };
  return create(ConsultationTypeDetailsSchema, { consultationTypeId: id, ...kept, ...described, ...timesOf(kept) });
}

export function toCancellationReasonDetails({
  id,
  ...kept
}: ResourceRecord<ReasonAttributes>): CancellationReasonDetails {
  return create(CancellationReasonDetailsSchema, { cancellationReasonId: id, ...kept, ...timesOf(kept) });
}

export function toNoShowReasonDetails({ id, ...kept }: ResourceRecord<ReasonAttributes>): NoShowReasonDetails {
  return create(NoShowReasonDetailsSchema, { noShowReasonId: id, ...kept, ...timesOf(kept) });
}

export function toRequestSourceDetails({ id, ...kept }: ResourceRecord<RequestSourceAttributes>): RequestSourceDetails {
  const channel = RequestSourceDetails_Channel[kept.channel];
  return create(RequestSourceDetailsSchema, { requestSourceId: id, ...kept, ...timesOf(kept), channel });
}

export function toPayerDetails({ id, ...kept }: ResourceRecord<PayerAttributes>): PayerDetails {
  return create(PayerDetailsSchema, { payerId: id, ...kept, ...timesOf(kept) });
}

export function toContractDetails({ id, ...kept }: ResourceRecord<ContractAttributes>): ContractDetails {
  return create(ContractDetailsSchema, { contractId: id, ...kept, ...timesOf(kept) });
}

export function toCoveredServices(contractId: string, { serviceIds, version }: CoveredServiceSet): CoveredServices {
  return create(CoveredServicesSchema, { contractId, serviceIds: [...serviceIds], version });
}
