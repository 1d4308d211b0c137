import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { UserAttentionService } from "../../src/gen/cupo/access/v1/user_attention_service_pb.js";
import { loopTurns } from "../../src/interceptors/loop-turns.js";
import { hasLongText } from "../../src/interceptors/validation/screen-message.js";
import { requestOf, run } from "./run-interceptor.js";

const { createCase } = UserAttentionService.method;
const { registerPatient } = PatientService.method;

test("requests with texts to screen continue in order, one per turn of the event loop", async () => {
  const stage = loopTurns(hasLongText);
  const seen: string[] = [];
  const runs = ["first", "second", "third"].map(async (name) => {
    await run(stage, requestOf(createCase, {}));
    seen.push(name);
  });
  const perTurn: number[] = [];
  while (seen.length < runs.length) {
    const before = seen.length;
    await setImmediate();
    perTurn.push(seen.length - before);
  }
  expect(seen).toEqual(["first", "second", "third"]);
  expect(Math.max(...perTurn)).toBe(1);
});

test("other requests do not wait", async () => {
  const stage = loopTurns(hasLongText);
  const long = run(stage, requestOf(createCase, {}));
  const seen: string[] = [];
  const both = [
    long.then(() => seen.push("long")),
    run(stage, requestOf(registerPatient, {})).then(() => seen.push("short")),
  ];
  await Promise.all(both);
  expect(seen).toEqual(["short", "long"]);
});
