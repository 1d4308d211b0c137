import { publicClinicServices } from "../listeners/clinic-services.js";
import { servedServices } from "../services/services.js";
import type { Config } from "../settings/config.js";

/**
 * Writes the OpenAPI documents of both listeners, with the configured addresses, to a folder. Returns the paths of the
 * files, one per line.
 */
export async function writeOpenApi(folder: string, config: Config): Promise<string> {
  const protocol = config.tls === undefined ? "http" : "https";
  const addressOf = ({ host, port }: Config["public"]) => `${protocol}://${host}:${port}`;
  const publicUrl = config.publicUrl ?? addressOf(config.public);
  const { writeDocuments } = await import("../openapi/write-documents.js");
  const files = await writeDocuments({
    folder,
    services: servedServices,
    publicClinic: publicClinicServices(servedServices, config.publicClinicApi),
    publicUrl,
    internalUrl: addressOf(config.internal),
    basePath: config.basePath,
    problemsUrl: config.problemsUrl ?? `${publicUrl}/problems`,
    nowMs: Date.now(),
  });
  return files.map((file) => `${file}\n`).join("");
}
