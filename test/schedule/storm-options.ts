import type { JsonObject } from "@bufbuild/protobuf";
import { day, type OptionBody } from "./clinic.js";
import type { Storm } from "./storm-context.js";

/** Returns the earliest options of a subject. Empty if there are none at the moment. */
export async function findOptions(
  { service, fixture, days, choices, send }: Omit<Storm, "isOver" | "look">,
  subject: JsonObject,
): Promise<readonly OptionBody[]> {
  const dates = { dateFrom: day({ service }, 2), dateTo: day({ service }, 1 + days) };
  const request = { serviceId: fixture.serviceId, pageSize: choices, ...dates, ...subject };
  const { body } = await send("SearchAppointmentOptions", request);
  return (body["options"] ?? []) as readonly OptionBody[];
}
