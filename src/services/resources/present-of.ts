/** Returns the members that have a value. Spread them into a message, in which absent fields must have no member. */
export function presentOf(values: object) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
