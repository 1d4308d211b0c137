/**
 * Fills headers whose examples must not be sent. Each opened operation gets a new Idempotency-Key, and a button for
 * another one. X-Correlation-Id stays empty, because the service generates it. The key stays the same between tries, so
 * sending the same request again is a replay.
 */
export function freshHeaders() {
  return { wrapComponents: { parameterRow: withFreshValue } };
}

/** Values of headers; null omits the header. @type {Readonly<Record<string, () => string | null>>} */
const values = { "Idempotency-Key": newKey, "X-Correlation-Id": () => null };

/** @param {SwaggerComponent} Row @param {SwaggerSystem} system */
function withFreshValue(Row, { React: { createElement, Fragment, useEffect } }) {
  /** @param {SwaggerRowProps & { value: () => string | null }} props */
  const FreshRow = ({ value, ...props }) => {
    const { isExecute, rawParam, onChange } = props;
    const renew = () => onChange(rawParam, value(), false);
    useEffect(() => {
      if (isExecute) renew();
    }, [isExecute]);
    const row = createElement(Row, props);
    if (!isExecute || value() === null) return row;
    const button = createElement("button", { type: "button", className: "btn new-key", onClick: renew }, "New key");
    return createElement(
      Fragment,
      null,
      row,
      createElement("tr", null, createElement("td"), createElement("td", null, button)),
    );
  };
  /** @param {SwaggerRowProps} props */
  return (props) => {
    const value = values[props.rawParam.get("name")];
    return value === undefined ? createElement(Row, props) : createElement(FreshRow, { ...props, value });
  };
}

/** Returns a UUID of version 4. `crypto.randomUUID` is unavailable on pages without TLS from another machine. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
