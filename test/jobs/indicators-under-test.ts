import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { OpportunityService } from "../../src/gen/cupo/clinic/v1/opportunity_service_pb.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import { measure, sumByHand } from "./indicator-oracle.js";

/** A group of the answer, in its JSON form, in which numbers that are 0 are absent. */
export type Indicators = Readonly<Record<string, unknown>>;

const WAITS = ["assigned", "assignedFirstVisits", "attended", "attendedFirstVisits"] as const;
const COLUMNS = {
  serviceId: "service_id",
  locationId: "location_id",
  payerId: "payer_id",
  programId: "program_id",
} as const;
const ATTRIBUTES = {
  MONTH: "month",
  SERVICE: "serviceId",
  LOCATION: "locationId",
  PAYER: "payerId",
  PROGRAM: "programId",
};

/** Returns the indicators of a tenant. */
export async function indicatorsOf(service: TestService, tenantId: string, request: JsonObject): Promise<Indicators[]> {
  const { getOpportunityIndicators } = OpportunityService.method;
  const { status, body } = await callRpc(service, getOpportunityIndicators, request, { as: { tenantId } });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body["opportunityIndicators"] as Indicators[];
}

/** Requires that the indicators of a tenant equal the sum of its appointments by hand. */
export async function expectSums(
  service: TestService,
  tenantId: string,
  request: { readonly monthFrom: string; readonly monthTo: string; readonly groupBy: (keyof typeof ATTRIBUTES)[] },
): Promise<void> {
  const names = request.groupBy.map((attribute) => ATTRIBUTES[attribute]);
  const answer = await indicatorsOf(service, tenantId, { ...request });
  const found = answer.map((group) => [
    names.map((name) => (group[name] as string | undefined) ?? "").join(" "),
    sumsIn(group),
  ]);
  const groups = await sumByHand(service, tenantId, (row, month) =>
    month < request.monthFrom || month > request.monthTo
      ? "outside"
      : names.map((name) => (name === "month" ? month : (row[COLUMNS[name as keyof typeof COLUMNS]] ?? ""))).join(" "),
  );
  const { outside: _, ...inside } = groups;
  const expected = Object.entries(inside).map(([name, kinds]) => [name, sumsOf(kinds)]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
}

function sumsIn(group: Indicators): object {
  const days = (waits: Indicators, kind: string) => ({ sum: 0, ...numbersIn((waits[kind] ?? {}) as Indicators) });
  const waitsIn = (name: string) => {
    const waits = (group[name] ?? {}) as Indicators;
    const count = Number(waits["count"] ?? 0);
    return [
      name,
      {
        calendarDays: { count, ...days(waits, "calendarDays") },
        businessDays: { count, ...days(waits, "businessDays") },
      },
    ];
  };
  const counts = ["breachCount", "noShowCount"].map((name) => [name, Number(group[name] ?? 0)]);
  return Object.fromEntries([...WAITS.map(waitsIn), ...counts]);
}

function numbersIn(message: Indicators): object {
  return Object.fromEntries(Object.entries(message).map(([name, value]) => [name, Number(value)]));
}

function sumsOf(kinds: Readonly<Record<string, number[]>>): object {
  const waitsOf = (name: string) => [
    name,
    {
      calendarDays: measure(kinds[`${name} calendarDays`] ?? []),
      businessDays: measure(kinds[`${name} businessDays`] ?? []),
    },
  ];
  const counts = ["breachCount", "noShowCount"].map((name) => [name, kinds[name]?.length ?? 0]);
  return Object.fromEntries([...WAITS.map(waitsOf), ...counts]);
}
