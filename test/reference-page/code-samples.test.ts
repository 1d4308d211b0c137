import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { apiDocument } from "../../src/reference-page/api-document.js";
import { codeSamples, type Language, SAMPLE_ORIGIN } from "../../src/reference-page/code-samples.js";
import { shownOperations } from "../../src/reference-page/shown-operations.js";
import { startDemoService } from "../openapi/example-calls.js";
import type { TestService } from "../support/service.js";

/** How a sample of each language is run, after its text as the last argument. */
const programs: Readonly<Record<Language, readonly [string, ...string[]]>> = {
  curl: ["sh", "-c", `uuidgen() { node -p 'crypto.randomUUID()'; }; eval "$0"`],
  typescript: [process.execPath, "--input-type=module", "--eval"],
  python: ["python3", "-c"],
};
const PROGRAM_MS = 60_000;

let service: TestService;

beforeAll(async () => {
  service = await startDemoService();
});

afterAll(() => service.close());

describe.each(Object.keys(programs) as Language[])("a sample in %s", (language) => {
  test.each([
    ["listLocations", /Sede Chapinero/],
    ["searchAppointmentOptions", /optionToken/],
    ["createNote", /noteId/],
  ])(
    "of %s succeeds in the demo tenant",
    async (id, expected) => {
      expect(await run(language, id)).toMatch(expected);
    },
    PROGRAM_MS,
  );
});

async function run(language: Language, id: string): Promise<string> {
  const document = (await (await fetch(`${service.internalUrl}/openapi.json`)).json()) as JsonObject;
  const operation = shownOperations(apiDocument(document)).find((each) => each.id === id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  const sample = codeSamples(operation)[language].replaceAll(SAMPLE_ORIGIN, service.internalUrl);
  const [program, ...options] = programs[language];
  const env = { ...process.env, TOKEN: await service.token({ tenantId: DEMO_TENANT_ID, client: "demo" }) };
  const { stdout } = await promisify(execFile)(program, [...options, sample], { env });
  return stdout;
}
