import { expect, test } from "vitest";
import { call } from "../support/call-handler.js";
import { makeService } from "../support/make-service.js";
import { different, filled } from "./update-masks.js";

const patch = makeService({
  name: "Patch",
  rule: "PATCH /books/{id}",
  body: "*",
  input: ".library.v1.UpdateBookRequest",
  output: ".library.v1.UpdateBookRequest",
});

test.each(filled)("%s has the mask %j", async (body, paths) => {
  expect(await maskOf(body)).toEqual(paths);
});

test.each(different)("%s, unlike %s (%s), has the mask %j", async (body, _theirs, _difference, paths) => {
  expect(await maskOf(body)).toEqual(paths);
});

async function maskOf(body: string): Promise<readonly string[]> {
  let paths: readonly string[] = [];
  const implementation = {
    patch: ({ updateMask }: { readonly updateMask?: { readonly paths: readonly string[] } }) => {
      paths = updateMask?.paths ?? ["absent"];
      return {};
    },
  };
  const services = [{ service: patch.service, implementation }];
  const { status } = await call({ services, profile: "protojson" }, "PATCH", "/books/x", { body });
  expect(status).toBe(200);
  return paths;
}
