/** A piece of HTML. The constructor does not escape `text`, so use {@link html} or {@link trusted} instead. */
export class Html {
  constructor(readonly text: string) {}
}

/** The values that a template may contain. Texts and numbers are escaped. Undefined and false are left out. */
export type HtmlPart = Html | string | number | undefined | false | readonly HtmlPart[];

/**
 * Creates HTML from a template literal. Escapes the inserted texts and numbers. The literal itself and inserted
 * {@link Html} are not escaped.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const pieces = strings.map((text, index) => text + textOf(parts[index]));
  return new Html(pieces.join(""));
}

/** Returns a text as HTML without escaping it. The text must be safe HTML. */
export function trusted(text: string): Html {
  return new Html(text);
}

function textOf(part: HtmlPart): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return part.map(textOf).join("");
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
