/** What has a value, to be spread into a message, in which what is absent has no member. */
export function presentOf(values: object) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
