/** Returns the members that are not undefined. Use it to create a message: an absent field must have no member. */
export function presentOf(values: object) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
