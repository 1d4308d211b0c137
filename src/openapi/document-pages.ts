import type { JsonObject } from "@bufbuild/protobuf";
import { contentOf, type PageContent } from "../pages/content.js";
import { pageResource } from "../pages/page.js";
import type { Resources } from "../pages/serve-resources.js";

/** Options of the pages of an OpenAPI document. */
export interface DocumentPagesOptions {
  /** The path before `/openapi.json` and `/openapi.yaml`, or "". */
  readonly prefix: string;
  /** Returns the current time in milliseconds since the epoch. */
  now(): number;
  /**
   * Creates the document. Called at the first request, and again on each later day (UTC), because examples contain
   * dates.
   */
  describe(nowMs: number): Promise<JsonObject>;
}

const DAY_MS = 86_400_000;

/**
 * Returns the public pages of an OpenAPI document as JSON and YAML. Each is created at its first request, so it does
 * not delay the start of the service.
 */
export function documentPages({ prefix, now, describe }: DocumentPagesOptions): Resources {
  const document = onceADay(now, describe);
  const page = (contentType: string, textOf: (document: JsonObject) => Promise<string>) =>
    pageResource({
      contentType,
      content: onceADay<PageContent>(now, async () => contentOf(await textOf(await document()))),
    });
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
 * Returns a function that calls `make` at most once per day (UTC) and caches the result. A failed result is not cached.
 */
function onceADay<T>(now: () => number, make: (nowMs: number) => Promise<T>): () => Promise<T> {
  let made: { readonly day: number; readonly value: Promise<T> } | undefined;
  return () => {
    const nowMs = now();
    const day = Math.floor(nowMs / DAY_MS);
    if (made?.day === day) return made.value;
    const value = make(nowMs);
    made = { day, value };
    value.catch(() => {
      if (made?.value === value) made = undefined;
    });
    return value;
  };
}
