import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AppointmentType, AppointmentTypeSchema } from "../../gen/cupo/access/v1/appointment_type_pb.js";
import { type CancellationReason, CancellationReasonSchema } from "../../gen/cupo/access/v1/cancellation_reason_pb.js";
import { type ConsultationType, ConsultationTypeSchema } from "../../gen/cupo/access/v1/consultation_type_pb.js";
import { type Contract, ContractSchema } from "../../gen/cupo/access/v1/contract_pb.js";
import { type NoShowReason, NoShowReasonSchema } from "../../gen/cupo/access/v1/no_show_reason_pb.js";
import { type Payer, PayerSchema } from "../../gen/cupo/access/v1/payer_pb.js";
import {
  type RequestSource,
  RequestSource_Channel,
  RequestSourceSchema,
} from "../../gen/cupo/access/v1/request_source_pb.js";
import { type CoveredServices, CoveredServicesSchema } from "../../gen/cupo/clinic/v1/covered_services_pb.js";
import type {
  AppointmentTypeAttributes,
  ConsultationTypeAttributes,
  ContractAttributes,
  PayerAttributes,
  ReasonAttributes,
  RequestSourceAttributes,
} from "../../postgres/tables/catalogs/catalogs.js";
import type { CoveredServiceSet } from "../../postgres/tables/catalogs/covered-services.js";
import type { ResourceHead, ResourceRecord } from "../../postgres/tables/resources/resources.js";

/** The messages of the catalogs, from what is kept. */

export function toAppointmentType(kept: ResourceRecord<AppointmentTypeAttributes>): AppointmentType {
  return create(AppointmentTypeSchema, { ...kept, ...timesOf(kept) });
}

export function toConsultationType({
  description,
  ...kept
}: ResourceRecord<ConsultationTypeAttributes>): ConsultationType {
  const described = description === undefined ? {} : { description };
  return create(ConsultationTypeSchema, { ...kept, ...described, ...timesOf(kept) });
}

export function toCancellationReason(kept: ResourceRecord<ReasonAttributes>): CancellationReason {
  return create(CancellationReasonSchema, { ...kept, ...timesOf(kept) });
}

export function toNoShowReason(kept: ResourceRecord<ReasonAttributes>): NoShowReason {
  return create(NoShowReasonSchema, { ...kept, ...timesOf(kept) });
}

export function toRequestSource(kept: ResourceRecord<RequestSourceAttributes>): RequestSource {
  return create(RequestSourceSchema, { ...kept, ...timesOf(kept), channel: RequestSource_Channel[kept.channel] });
}

export function toPayer(kept: ResourceRecord<PayerAttributes>): Payer {
  return create(PayerSchema, { ...kept, ...timesOf(kept) });
}

export function toContract(kept: ResourceRecord<ContractAttributes>): Contract {
  return create(ContractSchema, { ...kept, ...timesOf(kept) });
}

export function toCoveredServices(contractId: string, { serviceIds, version }: CoveredServiceSet): CoveredServices {
  return create(CoveredServicesSchema, { contractId, serviceIds: [...serviceIds], version });
}

/** The two times of a resource as messages have them. */
export function timesOf({ createdAt, updatedAt }: Pick<ResourceHead, "createdAt" | "updatedAt">) {
  return { createdAt: timestampFromDate(createdAt), updatedAt: timestampFromDate(updatedAt) };
}
