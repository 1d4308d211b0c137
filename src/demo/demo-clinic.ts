import type { RequestSource_Channel } from "../gen/cupo/access/v1/request_source_pb.js";
import type { OpportunityDefinition_DayKind } from "../gen/cupo/clinic/v1/opportunity_definition_pb.js";

/**
 * The content of a demo clinic. Items refer to each other by code. No value depends on the current time. So the ids of
 * the items, and the requests that create them, are the same in every database. The items of each list are created in
 * the order of the list.
 */
export interface DemoClinic {
  /** UUID of the tenant. */
  readonly tenantId: string;
  readonly name: string;
  readonly locations: readonly (Named & { readonly address: string })[];
  readonly services: readonly Named[];
  readonly practitioners: readonly {
    readonly code: string;
    readonly fullName: string;
    readonly registrationNumber: string;
  }[];
  readonly opportunities: readonly (Named & {
    readonly maxWaitDays: number;
    readonly dayKind: OpportunityDefinition_DayKind;
  })[];
  /** `opportunity` is the code of an opportunity definition. */
  readonly appointmentTypes: readonly (Named & { readonly durationMinutes: number; readonly opportunity: string })[];
  readonly consultationTypes: readonly (Named & { readonly description: string })[];
  readonly cancellationReasons: readonly Reason[];
  readonly noShowReasons: readonly Reason[];
  readonly requestSources: readonly (Named & { readonly channel: RequestSource_Channel })[];
  readonly payers: readonly (Named & { readonly taxId: string })[];
  readonly contracts: readonly DemoContract[];
  readonly patients: readonly DemoPatient[];
  /** At least one program. The practitioners of the last program are set last: a clinic that has them is complete. */
  readonly programs: readonly DemoProgram[];
}

/**
 * A contract. `payer` and `coveredServices` are codes. If `coveredServices` is empty, the contract covers every
 * healthcare service.
 */
export interface DemoContract extends Named {
  readonly payer: string;
  readonly coveredServices: readonly string[];
}

/** An invented person. */
export interface DemoPatient {
  readonly documentType: string;
  readonly documentNumber: string;
  readonly fullName: string;
  readonly phone: string;
  readonly email?: string;
}

/** Practitioners who offer healthcare services at a location. `location`, `services` and `practitioners` are codes. */
export interface DemoProgram extends Named {
  readonly location: string;
  readonly services: readonly string[];
  readonly practitioners: readonly string[];
  readonly rules: readonly DemoRule[];
}

/** A weekly rule that creates no slots on holidays. Times are local, HH:MM. Weekdays are 1 (Monday) to 7 (Sunday). */
export interface DemoRule {
  readonly weekdays: readonly number[];
  readonly startsAtLocal: string;
  readonly endsAtLocal: string;
  readonly slotDurationMinutes: number;
  readonly dailyCapacity: number;
}

interface Named {
  readonly code: string;
  readonly name: string;
}

interface Reason extends Named {
  readonly requiresComment: boolean;
}
