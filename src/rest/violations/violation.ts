/**
 * The codes of violations. An application whose validator has other codes adds them by declaration merging:
 *
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

/** The code of one violation. */
export type ViolationCode = ViolationCodes[keyof ViolationCodes];

/**
 * One violation in a request. `field` is a JSON path (`practitionerIds[2]`, `a.b[0].c`, "" for the whole body), a query
 * parameter or a header. Names that a caller chose are cut and escaped. `message` contains no input.
 */
export interface Violation {
  readonly code: ViolationCode;
  readonly field: string;
  readonly message: string;
}
