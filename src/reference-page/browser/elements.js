/**
 * Returns the element with an id. Throws a TypeError if the page has no such element of this type.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new TypeError(`the page has no element ${id} of the expected type`);
  return found;
}
