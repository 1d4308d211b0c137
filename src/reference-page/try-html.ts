import type { Example, Parameter } from "./api-document.js";
import { type Html, html } from "./html.js";
import { exampleText, type ShownOperation } from "./shown-operations.js";

/**
 * Headers whose input fields are empty at first, because their examples must not be sent. The page creates the
 * idempotency key, and the service creates the correlation id.
 */
const FRESH_HEADERS: ReadonlySet<string> = new Set(["Idempotency-Key", "X-Correlation-Id"]);
const UNSENT_HEADERS: ReadonlySet<string> = new Set(["Actor-Id", "Connect-Protocol-Version", "Connect-Timeout-Ms"]);

/** Returns the form for an operation, filled with its first example. `browser/try-it.js` sends the request. */
export function tryHtml({ method, url, parameters, body, examples }: ShownOperation): Html {
  return html`<form class="try" data-method="${method}" data-url="${url}"><h4>Try it</h4>
${examples.length > 1 && selectHtml(examples)}
${parameters.map(inputHtml)}
${examples.length === 1 && noteHtml(examples)}
${body !== undefined && html`<label>Body<textarea name="body" spellcheck="false" rows="${rowsFor(bodyText(examples[0]))}">${bodyText(examples[0])}</textarea></label>`}
<button type="submit">Send</button> <button type="button" class="stop" hidden>Stop</button><div class="answer" role="status"></div></form>`;
}

function inputHtml(parameter: Parameter): Html {
  const { name, required, schema, in: place } = parameter;
  const isUnsent = FRESH_HEADERS.has(name) || UNSENT_HEADERS.has(name);
  const value = isUnsent ? "" : listText(parameter);
  const field = html`<label>${name}<input name="${name}" data-in="${place}"${schema.items !== undefined && html` data-list=""`}${(required ?? false) && html` required`} value="${value}" autocomplete="off" spellcheck="false"></label>`;
  return name === "Idempotency-Key"
    ? html`<div class="key">${field}<button type="button" class="new-key">New key</button></div>`
    : field;
}

/** Returns the example of a parameter as text. The values of a list are separated by commas. */
function listText(parameter: Parameter): string {
  const { example } = parameter;
  return Array.isArray(example) ? example.map(String).join(",") : (exampleText(parameter) ?? "");
}

function selectHtml(examples: readonly Example[]): Html {
  const options = examples.map(
    (example, index) =>
      html`<option value="${bodyText(example)}">${example.description ?? `Example ${index + 1}`}</option>`,
  );
  return html`<label>Example<select name="example">${options}</select></label>`;
}

function noteHtml([example]: readonly Example[]): Html {
  return html`${example?.description !== undefined && html`<p class="note">${example.description.replaceAll("`", "")}</p>`}`;
}

/** Returns the number of rows of a text field for a text, at most 20. */
function rowsFor(text: string): number {
  return Math.min(20, text.split("\n").length + 1);
}

function bodyText(example: Example | undefined): string {
  return example === undefined ? "{}" : JSON.stringify(example.value, undefined, 2);
}
