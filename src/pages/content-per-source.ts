import { contentOf, type PageContent } from "./content.js";

/**
 * Returns a function that converts the result of `source` to page content with `textOf`. It converts again only if
 * `source` returns another object, or if the last conversion failed.
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
