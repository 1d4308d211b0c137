/** The validity of the demo's contracts and rules, as local dates. The dates do not depend on the day of creation. */
export const demoValidity = { validFrom: "2026-01-01", validTo: "2035-12-31" } as const;
