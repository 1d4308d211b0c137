import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DescService, JsonObject } from "@bufbuild/protobuf";
import { listViolations } from "@cupo/connect-rest";
import { messageValidatorOf } from "../interceptors/validation/validate-message.js";
import { isPublished } from "../operation.js";
import { jsonText, yamlText } from "./document-text.js";
import { describeInternal } from "./documents/internal-document.js";
import { describePublic } from "./documents/public-document.js";
import { requestExamples } from "./examples/request-examples.js";

/** The content and the folder of the documents to write. Writing them needs no running service. */
export interface WrittenDocuments {
  /** The target folder. It is created when it does not exist. */
  readonly folder: string;
  readonly services: readonly { readonly service: DescService }[];
  /** The RPC services of `cupo.clinic.v1` that the public listener serves. */
  readonly publicClinic: readonly { readonly service: DescService }[];
  readonly problemsUrl: string;
  readonly basePath: string;
  /** The URL of the public listener for clients, without a trailing slash. */
  readonly publicUrl: string;
  /** The URL at which clients reach the internal listener, without a trailing slash. */
  readonly internalUrl: string;
  /** Milliseconds since the epoch, for the dates in examples. */
  readonly nowMs: number;
}

/**
 * Writes the documents of both listeners as `public.json`, `public.yaml`, `internal.json` and `internal.yaml`. Only
 * their server URLs, and the dates of their examples, can differ from the documents that a service serves. Returns the
 * paths of the files.
 */
export async function writeDocuments(options: WrittenDocuments): Promise<string[]> {
  const shared = {
    problemsUrl: options.problemsUrl,
    validate: messageValidatorOf,
    listErrors: listViolations,
    examples: requestExamples(options.nowMs),
  };
  const { basePath, publicUrl, internalUrl } = options;
  const services = options.services;
  await mkdir(options.folder, { recursive: true });
  return [
    ...(await write(
      join(options.folder, "public"),
      describePublic({
        ...shared,
        services: services.filter(({ service }) => isPublished(service)),
        clinic: options.publicClinic,
        basePath,
        serverUrl: publicUrl + basePath,
        rootUrl: publicUrl,
      }),
    )),
    ...(await write(
      join(options.folder, "internal"),
      describeInternal({ ...shared, services, serverUrl: internalUrl }),
    )),
  ];
}

async function write(path: string, document: JsonObject): Promise<string[]> {
  await writeFile(`${path}.json`, jsonText(document));
  await writeFile(`${path}.yaml`, yamlText(document));
  return [`${path}.json`, `${path}.yaml`];
}
