import { create } from "@bufbuild/protobuf";
import { type HealthcareService, HealthcareServiceSchema } from "../../gen/cupo/clinic/v1/healthcare_service_pb.js";
import { type Location, LocationSchema } from "../../gen/cupo/clinic/v1/location_pb.js";
import {
  type OpportunityDefinition,
  OpportunityDefinition_DayKind,
  OpportunityDefinitionSchema,
} from "../../gen/cupo/clinic/v1/opportunity_definition_pb.js";
import { type Practitioner, PractitionerSchema } from "../../gen/cupo/clinic/v1/practitioner_pb.js";
import { UserAttentionCaseDetails_Category } from "../../gen/cupo/clinic/v1/user_attention_case_details_pb.js";
import type {
  HealthcareServiceAttributes,
  LocationAttributes,
  OpportunityDefinitionAttributes,
  PractitionerAttributes,
} from "../../postgres/tables/catalogs/reference-data.js";
import type { ResourceRecord } from "../../postgres/tables/resources/resources.js";
import { valueNamed } from "../resources/enum-names.js";
import { presentOf } from "../resources/present-of.js";
import { timesOf } from "../resources/resource-times.js";

export function toLocation({ id, address, ...kept }: ResourceRecord<LocationAttributes>): Location {
  const placed = address === undefined ? {} : { address };
  return create(LocationSchema, { locationId: id, ...kept, ...placed, ...timesOf(kept) });
}

export function toHealthcareService({
  id,
  opportunityDefinitionId,
  ...kept
}: ResourceRecord<HealthcareServiceAttributes>): HealthcareService {
  const limited = opportunityDefinitionId === undefined ? {} : { opportunityDefinitionId };
  return create(HealthcareServiceSchema, { serviceId: id, ...kept, ...limited, ...timesOf(kept) });
}

export function toPractitioner({
  id,
  registrationNumber,
  ...kept
}: ResourceRecord<PractitionerAttributes>): Practitioner {
  const registered = registrationNumber === undefined ? {} : { registrationNumber };
  return create(PractitionerSchema, { practitionerId: id, ...kept, ...registered, ...timesOf(kept) });
}

export function toOpportunityDefinition({
  id,
  caseCategory,
  ...kept
}: ResourceRecord<OpportunityDefinitionAttributes>): OpportunityDefinition {
  const dayKind = OpportunityDefinition_DayKind[kept.dayKind];
  const category = caseCategory && valueNamed(UserAttentionCaseDetails_Category, caseCategory);
  const enums = { dayKind, ...presentOf({ caseCategory: category }) };
  return create(OpportunityDefinitionSchema, { opportunityDefinitionId: id, ...kept, ...timesOf(kept), ...enums });
}
