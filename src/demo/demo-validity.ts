/**
 * The validity of the demo's contracts and rules, as local dates. It does not depend on the day on which they are
 * created.
 */
export const demoValidity = { validFrom: "2026-01-01", validTo: "2035-12-31" } as const;
