import type { JsonObject } from "@bufbuild/protobuf";
import { contentPerSource } from "../pages/content-per-source.js";
import { pageResource } from "../pages/page.js";
import type { Resources } from "../pages/serve-resources.js";
import { localDateAt } from "../scheduling/local-clock.js";

/** Returns the current document: the same object until the document changes. */
export type CurrentDocument = () => Promise<JsonObject>;

/**
 * Returns the public pages of an OpenAPI document, `openapi.json` and `openapi.yaml` below a prefix. Each page is
 * created at its first request, so that the start of the service is not delayed. When the document changes, which is
 * on each local date, the next request creates the page again.
 */
export function documentPages(prefix: string, document: CurrentDocument): Resources {
  const page = (contentType: string, textOf: (document: JsonObject) => Promise<string>) =>
    pageResource({ contentType, content: contentPerSource(document, textOf) });
  return [
    [
      `${prefix}/openapi.json`,
      page("application/json", async (made) => (await import("./document-text.js")).jsonText(made)),
    ],
    [
      `${prefix}/openapi.yaml`,
      page("application/yaml", async (made) => (await import("./document-text.js")).yamlText(made)),
    ],
  ];
}

/**
 * Returns a function that creates a document at its first call and again on each other local date, because
 * examples contain local dates. `now` returns milliseconds since the epoch. A failed result is not cached.
 */
export function dailyDocument(now: () => number, describe: (nowMs: number) => Promise<JsonObject>): CurrentDocument {
  let made: { readonly day: string; readonly document: Promise<JsonObject> } | undefined;
  return () => {
    const nowMs = now();
    const day = localDateAt(nowMs);
    if (made?.day === day) return made.document;
    const document = describe(nowMs);
    made = { day, document };
    document.catch(() => {
      if (made?.document === document) made = undefined;
    });
    return document;
  };
}
