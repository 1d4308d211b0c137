import { create } from "@bufbuild/protobuf";
import type { ReadyCall } from "../../call.js";
import { validationFailed } from "../../errors.js";
import {
  type OpportunityIndicators,
  type OpportunityIndicators_Days,
  OpportunityIndicators_DaysSchema,
  type OpportunityIndicators_Waits,
  OpportunityIndicators_WaitsSchema,
  OpportunityIndicatorsSchema,
} from "../../gen/cupo/clinic/v1/opportunity_indicators_pb.js";
import {
  GetOpportunityIndicatorsRequest_Attribute,
  type GetOpportunityIndicatorsRequestValid,
} from "../../gen/cupo/clinic/v1/opportunity_service_pb.js";
import {
  type FreeMinutes,
  type Group,
  type GroupAttribute,
  type GroupRecord,
  type IndicatorQuery,
  readFreeMinutes,
  readGroups,
  readThirdNext,
} from "../../postgres/tables/opportunity/indicators.js";
import { type DayStatistics, statisticsOf } from "../../scheduling/histogram.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { dayNumberOf } from "../../scheduling/local-date.js";
import { nameIn } from "../resources/enum-names.js";

/** The highest number of groups that one response can have. */
const MAX_GROUPS = 1_000;

const ATTRIBUTES = {
  MONTH: "month",
  SERVICE: "serviceId",
  LOCATION: "locationId",
  PAYER: "payerId",
  PROGRAM: "programId",
} as const satisfies Record<string, GroupAttribute>;

/**
 * Returns the opportunity indicators, such as waits and no-shows, of each group that `groupBy` defines. If nothing
 * matches and `groupBy` is empty, returns one group whose counts are 0. Throws 422 for more than {@link MAX_GROUPS}
 * groups.
 */
export async function readIndicators(
  request: GetOpportunityIndicatorsRequestValid,
  { transaction }: ReadyCall,
  nowMs: number,
): Promise<OpportunityIndicators[]> {
  const query = queryOf(request, nowMs);
  const hasFree = !isBy(query, "serviceId") && !isBy(query, "payerId");
  const [groups, free, thirds] = await Promise.all([
    readGroups(transaction, query),
    hasFree ? readFreeMinutes(transaction, query) : [],
    readThirdNext(transaction, query),
  ]);
  if (groups.length > MAX_GROUPS) {
    const message = `the answer would have more than ${MAX_GROUPS} groups: group by fewer attributes, or filter`;
    throw validationFailed([{ code: "TOO_MANY", field: "groupBy", message }]);
  }
  const freeOf = new Map(free.map((each) => [nameOf(each, ["month", "locationId", "programId"]), each]));
  const thirdOf = new Map(thirds.map((each) => [nameOf(each, ["serviceId", "locationId", "programId"]), each]));
  const today = localDateAt(nowMs);
  const found = groups.length === 0 && query.groupBy.size === 0 ? [NOTHING] : groups;
  return found.map((group) => {
    const third = thirdOf.get(nameOf(group, ["serviceId", "locationId", "programId"]));
    const isPresent = includesMonthOf(today, group, query);
    return toIndicators(group, {
      free: freeOf.get(nameOf(group, ["month", "locationId", "programId"])),
      hasFree,
      thirdInDays: isPresent && third ? dayNumberOf(third.localDate) - dayNumberOf(today) : undefined,
    });
  });
}

const NOTHING: GroupRecord = {
  month: undefined,
  serviceId: undefined,
  locationId: undefined,
  payerId: undefined,
  programId: undefined,
  assignedCalendar: "0",
  assignedBusiness: "0",
  attendedCalendar: "0",
  attendedBusiness: "0",
  assignedCalendarFirst: "0",
  assignedBusinessFirst: "0",
  attendedCalendarFirst: "0",
  attendedBusinessFirst: "0",
  breaches: 0,
  noShows: 0,
  bookedMinutes: 0,
};

function queryOf(request: GetOpportunityIndicatorsRequestValid, nowMs: number): IndicatorQuery {
  const { monthFrom, monthTo, serviceId, locationId, payerId, programId, groupBy } = request;
  return {
    monthFrom: `${monthFrom}-01`,
    monthTo: `${monthTo}-01`,
    serviceId,
    locationId,
    payerId,
    programId,
    groupBy: new Set(groupBy.map((each) => ATTRIBUTES[nameIn(GetOpportunityIndicatorsRequest_Attribute, each)])),
    now: new Date(nowMs),
    limit: MAX_GROUPS + 1,
  };
}

function isBy({ groupBy, ...query }: IndicatorQuery, attribute: "serviceId" | "payerId"): boolean {
  return groupBy.has(attribute) || query[attribute] !== undefined;
}

function nameOf(group: Group, attributes: readonly GroupAttribute[]): string {
  return attributes.map((attribute) => group[attribute]).join(" ");
}

function includesMonthOf(today: string, { month }: Group, { monthFrom, monthTo }: IndicatorQuery): boolean {
  const present = `${today.slice(0, 7)}-01`;
  return month === undefined ? monthFrom <= present && present <= monthTo : month === present;
}

interface Slots {
  readonly free: FreeMinutes | undefined;
  readonly hasFree: boolean;
  readonly thirdInDays: number | undefined;
}

function toIndicators(group: GroupRecord, { free, hasFree, thirdInDays }: Slots): OpportunityIndicators {
  const { month, serviceId, locationId, payerId, programId, breaches, noShows, bookedMinutes } = group;
  const attended = toWaits(group.attendedCalendar, group.attendedBusiness);
  const visits = Number(attended.count) + noShows;
  const minutes = bookedMinutes + (free?.minutes ?? 0);
  return create(OpportunityIndicatorsSchema, {
    ...(month === undefined ? {} : { month: month.slice(0, 7) }),
    ...(serviceId === undefined ? {} : { serviceId }),
    ...(locationId === undefined ? {} : { locationId }),
    ...(payerId === undefined ? {} : { payerId }),
    ...(programId === undefined ? {} : { programId }),
    assigned: toWaits(group.assignedCalendar, group.assignedBusiness),
    assignedFirstVisits: toWaits(group.assignedCalendarFirst, group.assignedBusinessFirst),
    attended,
    attendedFirstVisits: toWaits(group.attendedCalendarFirst, group.attendedBusinessFirst),
    breachCount: BigInt(breaches),
    noShowCount: BigInt(noShows),
    ...(visits === 0 ? {} : { noShowRate: noShows / visits }),
    ...(hasFree && minutes > 0 ? { fillRate: bookedMinutes / minutes } : {}),
    ...(thirdInDays === undefined ? {} : { thirdNextAvailableDays: thirdInDays }),
  });
}

function toWaits(calendar: string, business: string): OpportunityIndicators_Waits {
  const [calendarDays, businessDays] = [statisticsOf(calendar), statisticsOf(business)];
  return create(OpportunityIndicators_WaitsSchema, {
    count: BigInt(calendarDays.count),
    calendarDays: toDays(calendarDays),
    businessDays: toDays(businessDays),
  });
}

function toDays({ sum, mean, median, p90 }: DayStatistics): OpportunityIndicators_Days {
  return create(OpportunityIndicators_DaysSchema, {
    sum: BigInt(sum),
    ...(mean === undefined ? {} : { mean }),
    ...(median === undefined ? {} : { median }),
    ...(p90 === undefined ? {} : { p90 }),
  });
}
