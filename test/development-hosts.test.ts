import { describe, expect, test } from "vitest";
import { readConfig } from "../src/settings/config.js";
import { isLoopback } from "../src/settings/setting-kinds.js";
import { problemsOf } from "./support/config-problems.js";

/** The settings that are required with a real issuer. */
const complete = {
  AUTH_ISSUER: "https://id.example.org",
  AUTH_AUDIENCE: "cupo",
  AUTH_JWKS_URL: "https://id.example.org/keys",
  PUBLIC_URL: "https://cupo.example.org",
};

describe("the development issuer", () => {
  const elsewhere = ["0.0.0.0", "::", "192.168.1.20", "128.0.0.1", "fe80::1", "::ffff:10.0.0.1", "cupo.example.org"];

  test.each(elsewhere.flatMap((host) => ["HOST", "INTERNAL_HOST"].map((name) => ({ name, host }))))(
    "is rejected if other machines can reach it: $name=$host",
    ({ name, host }) => {
      expect(isLoopback(host)).toBe(false);
      expect(problemsOf({ [name]: host })).toEqual([
        expect.stringMatching(
          `^${name} is "${host}"; the development issuer requires a loopback address.*set AUTH_ISSUER`,
        ),
      ]);
      expect(readConfig({ ...complete, [name]: host })).toBeDefined();
    },
  );

  test("is rejected for both listeners together", () => {
    expect(problemsOf({ HOST: "0.0.0.0", INTERNAL_HOST: "::" })).toHaveLength(2);
  });

  test.each(["127.0.0.1", "127.8.9.10", "::1", "0:0:0:0:0:0:0:1", "localhost"])("can listen on %s", (host) => {
    expect(isLoopback(host)).toBe(true);
    const config = readConfig({ HOST: host, INTERNAL_HOST: host });
    expect([config.public.host, config.internal.host, config.issuer]).toEqual([host, host, undefined]);
  });
});
