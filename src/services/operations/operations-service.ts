import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type InvariantReport, InvariantReportSchema } from "../../gen/cupo/clinic/v1/invariant_report_pb.js";
import type { OperationsService } from "../../gen/cupo/clinic/v1/operations_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { type InvariantFindings, verifyInvariants } from "../../postgres/tables/operations/invariants.js";

/**
 * Returns the service that checks whether the stored data of a tenant is consistent. `now` returns milliseconds since
 * the epoch.
 */
export function createOperationsService(now: () => number): Implementation<typeof OperationsService> {
  return {
    async verifyInvariants(_, call) {
      const verifiedAt = now();
      return { invariantReport: toReport(await verifyInvariants(call.transaction, verifiedAt), verifiedAt) };
    },
  };
}

function toReport(
  { findings, liveAppointments, occupiedSlots, countedBookings, overbooked }: InvariantFindings,
  verifiedAtMs: number,
): InvariantReport {
  return create(InvariantReportSchema, {
    findings: findings.map(({ name, count, exampleIds }) => ({ name, count, exampleIds: [...exampleIds] })),
    liveAppointmentCount: liveAppointments,
    occupiedSlotCount: occupiedSlots,
    countedBookingCount: countedBookings,
    overbookedAppointmentCount: overbooked,
    verifiedAt: timestampFromMs(verifiedAtMs),
  });
}
