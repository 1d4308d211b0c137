const HEADER = "Idempotency-Key";

/**
 * Fills the field of an operation's Idempotency-Key with a new UUID when the operation is opened, and puts a button for
 * another beside it. The key stays as it is from one try to the next: the same request sent again is a replay.
 */
export function idempotencyKeys() {
  return { wrapComponents: { parameterRow: withNewKeys } };
}

/** @param {SwaggerComponent} Row @param {SwaggerSystem} system */
function withNewKeys(Row, { React }) {
  const { createElement, Fragment, useEffect } = React;
  /** @param {SwaggerRowProps} props */
  const KeyRow = (props) => {
    const renew = () => props.onChange(props.rawParam, newKey(), false);
    useEffect(() => {
      if (props.isExecute) renew();
    }, [props.isExecute]);
    const button = createElement("button", { type: "button", className: "btn new-key", onClick: renew }, "New key");
    return createElement(
      Fragment,
      null,
      createElement(Row, props),
      props.isExecute && createElement("tr", null, createElement("td"), createElement("td", null, button)),
    );
  };
  /** @param {SwaggerRowProps} props */
  return (props) => createElement(props.rawParam.get("name") === HEADER ? KeyRow : Row, props);
}

/** A UUID of version 4; `crypto.randomUUID` is missing where a page is reached without TLS from another machine. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
