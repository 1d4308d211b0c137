import { randomUUID } from "node:crypto";

/** An answer that takes longer counts as none. */
const PATIENCE_MS = 5_000;

/**
 * A client of the service: `ask` gives an answer of the internal listener, `rpc` and `rest` the status of one, or 0 where
 * none came within five seconds.
 *
 * @param {{ baseUrl: string, internalUrl: string, token: string }} access
 */
export function callerOf({ baseUrl, internalUrl, token }) {
  const send = async (method, url, body, patienceMs = 60_000) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      "Idempotency-Key": randomUUID(),
    };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const content = { headers, body: text };
    const response = await fetch(url, { method, ...content, signal: AbortSignal.timeout(patienceMs) });
    return { status: response.status, body: await response.json() };
  };
  const ask = (name, request, patienceMs) => send("POST", `${internalUrl}/${name}`, request, patienceMs);
  return {
    internalUrl,
    baseUrl,
    token,
    ask,
    rpc: (name, request) => statusOf(ask(name, request, PATIENCE_MS)),
    rest: (method, path, body) => statusOf(send(method, `${baseUrl}${path}`, body, PATIENCE_MS)),
  };
}

/** The status of an answer, 0 where none came. */
function statusOf(answered) {
  return answered.then(
    ({ status }) => status,
    () => 0,
  );
}
