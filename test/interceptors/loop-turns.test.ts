import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { UserAttentionService } from "../../src/gen/cupo/access/v1/user_attention_service_pb.js";
import { loopTurns } from "../../src/interceptors/loop-turns.js";
import { isScreened } from "../../src/interceptors/validation/screen-message.js";
import { requestOf, run } from "./run-interceptor.js";

const { createCase } = UserAttentionService.method;
const { registerPatient } = PatientService.method;

test("of requests with texts to be screened one goes on in each turn of the event loop, in order", async () => {
  const stage = loopTurns(isScreened);
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

test("others wait for nobody", async () => {
  const stage = loopTurns(isScreened);
  const long = run(stage, requestOf(createCase, {}));
  const seen: string[] = [];
  const both = [
    long.then(() => seen.push("long")),
    run(stage, requestOf(registerPatient, {})).then(() => seen.push("short")),
  ];
  await Promise.all(both);
  expect(seen).toEqual(["short", "long"]);
});
