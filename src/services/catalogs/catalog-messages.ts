import { create } from "@bufbuild/protobuf";
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
import type {
  AppointmentTypeAttributes,
  ConsultationTypeAttributes,
  ContractAttributes,
  PayerAttributes,
  ReasonAttributes,
  RequestSourceAttributes,
} from "../../postgres/tables/catalogs/catalogs.js";
import type { ResourceRecord } from "../../postgres/tables/resources/resources.js";
import { timesOf } from "../resources/resource-times.js";

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
