import { AppointmentService } from "../../src/gen/cupo/access/v1/appointment_service_pb.js";
import { createAppointmentService } from "../../src/services/appointment-service.js";
import type * as services from "../../src/services/services.js";

/** The module of services, with rescheduling among them. */
export async function withRescheduling(original: () => Promise<typeof services>): Promise<typeof services> {
  const module = await original();
  return {
    ...module,
    createServices: (ports) =>
      module
        .createServices(ports)
        .map((entry) =>
          entry.service.typeName === AppointmentService.typeName
            ? { service: entry.service, implementation: createAppointmentService(ports.now, ports.tokens) }
            : entry,
        ),
  };
}
