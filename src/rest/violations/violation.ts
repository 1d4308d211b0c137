/**
 * The codes a violation can have. An application whose own validator finds more joins its codes by declaration merging:
 * `declare module "…/violations/violation.js" { interface ViolationCodes { application: "ITS_CODE" } }`.
 */
export interface ViolationCodes {
  transcoder:
    | "REQUIRED"
    | "UNKNOWN_FIELD"
    | "INVALID_TYPE"
    | "INVALID_VALUE"
    | "INVALID_FORMAT"
    | "INVALID_DATE_TIME"
    | "OUT_OF_RANGE"
    | "TOO_MANY"
    | "DUPLICATE"
    | "MORE_ERRORS";
}

export type ViolationCode = ViolationCodes[keyof ViolationCodes];

/**
 * One thing that is wrong with a request. `field` is a JSON path (`practitionerIds[2]`, `a.b[0].c`, "" for the body as a
 * whole), a query parameter or a header. Names that a caller made up are cut and escaped; `message` holds no input.
 */
export interface Violation {
  readonly code: ViolationCode;
  readonly field: string;
  readonly message: string;
}
