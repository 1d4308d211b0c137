import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { transactionOf } from "../call.js";
import { type InvariantReport, InvariantReportSchema } from "../gen/cupo/clinic/v1/invariant_report_pb.js";
import type { OperationsService } from "../gen/cupo/clinic/v1/operations_service_pb.js";
import { type InvariantFindings, verifyInvariants } from "../postgres/invariants.js";

/** For those who run the service. `now` gives milliseconds since the epoch. */
export function createOperationsService(now: () => number): ServiceImpl<typeof OperationsService> {
  return {
    async verifyInvariants(_, { values }) {
      const verifiedAt = now();
      return { invariantReport: toReport(await verifyInvariants(transactionOf(values)), verifiedAt) };
    },
  };
}

function toReport(
  { findings, liveAppointments, occupiedSlots, countedBookings }: InvariantFindings,
  verifiedAtMs: number,
): InvariantReport {
  return create(InvariantReportSchema, {
    findings: findings.map(({ name, count, exampleIds }) => ({ name, count, exampleIds: [...exampleIds] })),
    liveAppointmentCount: liveAppointments,
    occupiedSlotCount: occupiedSlots,
    countedBookingCount: countedBookings,
    verifiedAt: timestampFromMs(verifiedAtMs),
  });
}
