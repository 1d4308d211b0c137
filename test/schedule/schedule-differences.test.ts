import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { startTestService, type TestService } from "../support/service.js";
import { bookFirst, type Clinic, openClinic } from "./clinic.js";
import { scheduleDifferences } from "./schedule-differences.js";

/** Proves that the comparison used by other tests detects each kind of wrong slot. */
describe("the comparison of a schedule with its rules", () => {
  let service: TestService;
  let clinic: Clinic;

  beforeAll(async () => {
    service = await startTestService();
  });

  beforeEach(async () => {
    clinic = await openClinic(service);
    expect(await scheduleDifferences(service)).toEqual([]);
  });

  afterAll(() => service.close());

  test("reports a slot that is missing", async () => {
    await change("DELETE FROM slots");
    expect(await differences()).toEqual([expect.stringMatching(/^1 slots missing/)]);
  });

  test("reports a slot that no rule asks for", async () => {
    await change("UPDATE slots SET ends_at = ends_at - interval '10 minutes'");
    expect(await differences()).toEqual([
      expect.stringMatching(/^1 slots missing/),
      expect.stringMatching(/^1 slots stray/),
    ]);
  });

  test("reports the slots of a practitioner who left", async () => {
    await service.query(`DELETE FROM program_practitioners WHERE program_id = '${clinic.programId}'`);
    expect(await differences()).toEqual([expect.stringMatching(/^\d+ slots stray/)]);
  });

  test("reports a slot that is retained, although a rule asks for it", async () => {
    await bookFirst(clinic, await fixtures.createPatient(service));
    await service.query(`UPDATE slots SET retained = true, retained_by = 'RULES'
      WHERE program_id = '${clinic.programId}' AND appointment_id IS NOT NULL`);
    expect(await differences()).toEqual([
      expect.stringMatching(/^1 slots missing/),
      expect.stringMatching(/^1 slots retained but wanted/),
    ]);
  });

  /** Returns the differences, then removes the schedule so that it does not disturb the next test. */
  async function differences(): Promise<string[]> {
    const found = await scheduleDifferences(service);
    await service.query(`UPDATE programs SET materialized_through = NULL WHERE id = '${clinic.programId}';
      DELETE FROM slots WHERE program_id = '${clinic.programId}'`);
    return found;
  }

  /** Applies a statement to the last slot of the schedule. */
  function change(statement: string): Promise<Record<string, unknown>[]> {
    return service.query(`${statement} WHERE id = (SELECT id FROM slots WHERE program_id = '${clinic.programId}'
      ORDER BY starts_at DESC LIMIT 1)`);
  }
});
