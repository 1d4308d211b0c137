import { Marked } from "marked";
import { type Html, trusted } from "./html.js";

/** A renderer of CommonMark that shows HTML as text, because texts of protos may have angle brackets. */
const marked = new Marked({
  renderer: { html: ({ text }) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`) },
});

/** Renders CommonMark as HTML. HTML in `text` is escaped, so that it appears as text. */
export function markdown(text: string): Html {
  return trusted(marked.parse(text, { async: false }));
}

/**
 * Renders CommonMark. Returns the HTML and its headings of the second level. The id of a heading is made from its text.
 */
export function chapters(text: string): { readonly body: Html; readonly titles: readonly Chapter[] } {
  const titles: Chapter[] = [];
  const body = markdown(text).text.replace(/<h2>(.*?)<\/h2>/g, (_, title: string) => {
    const id = title.toLowerCase().replace(/[^a-z]+/g, "-");
    titles.push({ id, title });
    return `<h2 id="${id}">${title}</h2>`;
  });
  return { body: trusted(body), titles };
}

/** A heading of the second level. `id` is the id of its HTML element, `title` is its HTML. */
export interface Chapter {
  readonly id: string;
  readonly title: string;
}
