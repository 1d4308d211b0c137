import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { writeDocuments } from "../../src/openapi/write-documents.js";
import { servedServices } from "../../src/services/services.js";
import { shareTestService } from "../support/service.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("documents written without a service equal those it serves, except for its address", async () => {
  const folder = await temporaryFolder();
  const service = await shareTestService();
  try {
    const files = await writeDocuments({
      folder: join(folder, "openapi"),
      services: servedServices,
      publicClinic: [],
      problemsUrl: `${service.publicUrl}/problems`,
      basePath: "/api/external/v1",
      publicUrl: "https://cupo.test",
      internalUrl: "http://10.0.0.7:9090",
      nowMs: service.now(),
    });
    expect(files.map((file) => file.slice(folder.length))).toEqual(
      ["public.json", "public.yaml", "internal.json", "internal.yaml"].map((name) => `/openapi/${name}`),
    );
    const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
    for (const [index, listener] of [service.baseUrl, service.internalUrl].entries()) {
      const served: unknown = await (await fetch(`${listener}/openapi.json`)).json();
      const servers = [
        { url: "https://cupo.test/api/external/v1", description: "The public listener" },
        { url: "http://10.0.0.7:9090", description: "The internal listener" },
      ].slice(index, index + 1);
      const written: unknown = JSON.parse(texts[index * 2] ?? "");
      expect(written).toEqual({ ...Object(served), servers });
      expect(parse(texts[index * 2 + 1] ?? "")).toEqual(written);
    }
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
});
