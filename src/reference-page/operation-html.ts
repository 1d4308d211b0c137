import { type ApiDocument, type Parameter, resolve, schemaName } from "./api-document.js";
import { codeSamples, type Language, languages, SAMPLE_ORIGIN } from "./code-samples.js";
import { type Html, html } from "./html.js";
import { markdown } from "./markdown.js";
import { memberHtml, schemaHtml } from "./schema-html.js";
import type { ShownOperation } from "./shown-operations.js";
import { tryHtml } from "./try-html.js";

/**
 * Renders an operation as a collapsed section with texts, request, answers, samples and a form that sends the
 * operation.
 */
export function operationHtml(document: ApiDocument, shown: ShownOperation): Html {
  const { id, method, url, operation } = shown;
  const connect = operation["x-connect"];
  return html`<details class="operation" id="${id}"><summary>${methodHtml(method)} <h3>${operation.summary}</h3> <code>${url}</code></summary>
<div class="columns"><div class="texts">
${operation.description !== undefined && markdown(operation.description)}
${connect !== undefined && html`<p class="connect">Over Connect: <code>${connect}</code></p>`}
${requestHtml(document, shown)}
${answersHtml(document, shown)}
</div><div class="uses">
${samplesHtml(shown)}
${tryHtml(shown)}
</div></div></details>
`;
}

/** Renders an HTTP method. */
export function methodHtml(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

function requestHtml(document: ApiDocument, { parameters, body }: ShownOperation): Html {
  return html`${parameters.length > 0 && html`<h4>Parameters</h4><ul class="members">${parameters.map(parameterHtml)}</ul>`}${
    body !== undefined && html`<h4>Body</h4>${schemaHtml(document, body)}`
  }`;
}

function parameterHtml({ name, schema, description, required, in: place }: Parameter): Html {
  const described = description === undefined ? schema : { ...schema, description };
  return memberHtml({ name, schema: described, isRequired: required ?? false, place });
}

function answersHtml(document: ApiDocument, { operation }: ShownOperation): Html {
  const answers = Object.entries(operation.responses).map(([status, response]) => {
    const { description, content } = resolve(document, response);
    return { status, description, schema: Object.values(content ?? {})[0]?.schema, isError: !/^[23]/.test(status) };
  });
  const own = answers.map(
    ({ status, description, schema, isError }) =>
      !isError &&
      html`<h4>Answer ${status}</h4>${markdown(description)}${schema !== undefined && schemaHtml(document, schema)}`,
  );
  const errors = answers.map(
    ({ status, description, schema, isError }) =>
      isError && errorHtml(status, description, schema === undefined ? undefined : schemaName(schema)),
  );
  return html`${own}<h4>Errors</h4>${errors}`;
}

/**
 * Renders the status of an error and the first sentence of its description. Also renders the later paragraphs of the
 * description, which list the codes in the member `errors` of the Problem. The status links to `schema`, if any.
 */
function errorHtml(status: string, description: string, schema: string | undefined): Html {
  const [text = "", ...codes] = description.split("\n\n");
  const [first = ""] = text.split(/(?<=\.)\s/);
  const label = status === "default" ? "Other" : status;
  return html`<div class="error">${schema === undefined ? html`<b>${label}</b>` : html`<a href="#schema-${schema}">${label}</a>`} ${markdown([first, ...codes].join(" "))}</div>
`;
}

function samplesHtml(shown: ShownOperation): Html {
  const samples = codeSamples(shown);
  const names = Object.keys(languages) as Language[];
  return html`<div class="samples"><div role="group" aria-label="Language">${names.map(
    (name) =>
      html`<button type="button" data-language="${name}" aria-pressed="${name === "curl" ? "true" : "false"}">${languages[name]}</button>`,
  )}<button type="button" class="copy">Copy</button></div>${names.map(
    (name) => html`<pre class="${name}"><code>${withOrigin(samples[name])}</code></pre>`,
  )}</div>`;
}

/** Marks each {@link SAMPLE_ORIGIN} in a sample, so that the page can replace it with its own address. */
function withOrigin(sample: string): Html {
  const parts = sample.split(SAMPLE_ORIGIN);
  return html`${parts.map((part, index) => html`${index > 0 && html`<span class="origin">${SAMPLE_ORIGIN}</span>`}${part}`)}`;
}
