import { contentOf, type PageContent } from "./content.js";

/**
 * Returns a function that makes content of a source at its first call, and again only when the source is another object.
 * A failed result is not cached.
 */
export function contentPerSource<T extends object>(
  source: () => Promise<T>,
  textOf: (source: T) => Promise<string>,
): () => Promise<PageContent> {
  let made: { readonly from: T; readonly content: Promise<PageContent> } | undefined;
  return async () => {
    const from = await source();
    if (made?.from === from) return made.content;
    const content = textOf(from).then(contentOf);
    made = { from, content };
    content.catch(() => {
      if (made?.content === content) made = undefined;
    });
    return content;
  };
}
