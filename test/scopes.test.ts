import { expect, test } from "vitest";
import { PatientService } from "../src/gen/cupo/access/v1/patient_service_pb.js";
import { WaitlistService } from "../src/gen/cupo/access/v1/waitlist_service_pb.js";
import { scopesOf } from "../src/scopes.js";
import { servedServices } from "../src/services/services.js";
import { describeTreeService } from "./interceptors/described-service.js";

test("scopesOf returns the scopes of operations and response fields, sorted and without duplicates", () => {
  expect(scopesOf([{ service: WaitlistService }, { service: PatientService }])).toEqual([
    "patients:document:read",
    "patients:write",
    "waitlist:write",
  ]);
});

test("scopesOf finds the scopes of fields at any depth", () => {
  const { service } = describeTreeService("tree:read");
  expect(scopesOf([{ service }])).toEqual(["secret:read", "secrets:read", "tree:read"]);
});

test("the scopes of the services are among the documented ones", () => {
  const documented = new Set(
    `patients:write patients:document:read appointments:reschedule eligibility:check waitlist:write siau:write
    configuration:write configuration:read scheduling:read scheduling:write patients:read reference:write desk:read
     desk:write operations:read import:write scheduling:correct scheduling:overbook scheduling:enter-late notes:read notes:write patients:merge
     patients:correct patients:export patients:erase events:read
     webhooks:read webhooks:write settings:read settings:write tenants:manage`.split(/\s+/),
  );
  const named = scopesOf(servedServices);
  expect(named.filter((scope) => !documented.has(scope))).toEqual([]);
  expect(named).toContain("configuration:write");
});
