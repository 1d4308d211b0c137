/**
 * Fills the Idempotency-Key field of an operation with a new key if the field is empty. The key stays the same between
 * sends, so sending the same request again is a replay.
 *
 * @param {Element} operation
 */
export function fillKey(operation) {
  const input = operation.querySelector("input[name='Idempotency-Key']");
  if (input instanceof HTMLInputElement && input.value === "") input.value = newKey();
}

/** Puts a new key into the field beside this button. @param {Element} button */
export function renewKey(button) {
  const input = button.closest(".key")?.querySelector("input");
  if (input) input.value = newKey();
}

/** Returns a UUID of version 4. A page that another machine serves without TLS has no `crypto.randomUUID`. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
