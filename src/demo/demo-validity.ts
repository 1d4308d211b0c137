/** The local dates between which the demo's contracts and rules are valid: not of the day on which they are made. */
export const demoValidity = { validFrom: "2026-01-01", validTo: "2035-12-31" } as const;
