import { demo } from "../../src/openapi/examples/demo-ids.js";
import { execute, type TestDatabase } from "../support/database.js";
import type { TestService } from "../support/service.js";

/**
 * Advances the clock of a service with this database to a free slot of the practitioner in the example of
 * OverbookAppointment, which books the current minute. At night, this example takes no slot.
 */
export async function awaitSlot(service: TestService, database: TestDatabase): Promise<void> {
  const ids = `program_id = '${demo.program.primary}' AND practitioner_id = '${demo.practitioner.mora}'`;
  const [slot] = await execute(
    database.adminUrl,
    `SELECT starts_at FROM slots WHERE ${ids} AND appointment_id IS NULL
       AND starts_at > '${new Date(service.now() + 60_000).toISOString()}' ORDER BY starts_at LIMIT 1`,
  );
  if (slot === undefined) throw new Error("the practitioner of the example has no free slot");
  service.advance((slot["starts_at"] as Date).getTime() - service.now());
}
