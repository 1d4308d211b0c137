/** The largest number of characters of an answer that the page shows. The rest is left out. */
const MAX_SHOWN = 200_000;

/**
 * Sends the request of a form and shows the answer below the form. The parts of a stream are shown as they arrive. The
 * stream ends when the service closes it or the user presses Stop.
 *
 * @param {HTMLFormElement} form
 * @param {string} token
 */
export async function send(form, token) {
  const shown = form.querySelector(".answer");
  const stop = form.querySelector(".stop");
  if (!(shown instanceof HTMLElement) || !(stop instanceof HTMLButtonElement)) return;
  const leaving = new AbortController();
  stop.addEventListener("click", () => leaving.abort(), { signal: leaving.signal });
  shown.replaceChildren("Sending …");
  const startMs = performance.now();
  try {
    const { url, ...request } = requestOf(form, token);
    const response = await fetch(url, { ...request, signal: leaving.signal });
    const tookMs = Math.round(performance.now() - startMs);
    const head = `${response.status} ${response.statusText}`.trim();
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    const body = block("body", "");
    const status = block("status", `${head} · ${tookMs} ms`, response.ok ? "success" : "failure");
    shown.replaceChildren(status, block("headers", headers), body);
    stop.hidden = false;
    await read(response, body);
  } catch (error) {
    if (!leaving.signal.aborted) shown.replaceChildren(`No answer: ${String(error)}`);
  } finally {
    stop.hidden = true;
  }
}

/** @param {HTMLFormElement} form @param {string} token */
function requestOf(form, token) {
  const { method = "GET", url: template = "" } = form.dataset;
  const inputs = [...form.querySelectorAll("input")].filter(({ value }) => value !== "");
  const inPlace = (/** @type {string} */ place) => inputs.filter(({ dataset }) => dataset["in"] === place);
  const headers = new Headers(inPlace("header").map(({ name, value }) => [name, value]));
  if (token !== "") headers.set("Authorization", `Bearer ${token}`);
  const body = form.querySelector("textarea")?.value;
  if (body !== undefined) headers.set("Content-Type", "application/json");
  const inPath = new Map(inPlace("path").map(({ name, value }) => [name, value]));
  const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(inPath.get(name) ?? ""));
  const query = new URLSearchParams(inPlace("query").flatMap(pairs)).toString();
  const url = query === "" ? path : `${path}?${query}`;
  return { url, method, headers, ...(body === undefined ? {} : { body }) };
}

/** @param {HTMLInputElement} input @returns {[string, string][]} */
function pairs({ name, value, dataset }) {
  const values = dataset["list"] === undefined ? [value] : value.split(",").map((each) => each.trim());
  return values.map((each) => [name, each]);
}

/** @param {Response} response @param {HTMLElement} body */
async function read(response, body) {
  if (/event-stream|ndjson/.test(response.headers.get("content-type") ?? "")) {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) append(body, part.value);
    return;
  }
  const text = await response.text();
  append(body, indented(text));
}

/** @param {HTMLElement} body @param {string} text */
function append(body, text) {
  const room = MAX_SHOWN - (body.textContent?.length ?? 0);
  body.append(text.slice(0, Math.max(0, room)));
}

/** @param {string} text */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

/** @param {string} part @param {string} text @param {string} [tone] */
function block(part, text, tone) {
  const made = document.createElement("pre");
  made.className = tone === undefined ? part : `${part} ${tone}`;
  made.textContent = text;
  return made;
}
