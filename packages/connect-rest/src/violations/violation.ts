/** The codes of the violations that this package finds. */
export type TranscoderViolationCode =
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

/** The code of a violation: one that this package finds, or one of the application's own validator. */
export type ViolationCode = TranscoderViolationCode | (string & {});

/**
 * One violation in a request. `field` is a JSON path (`practitionerIds[2]`, `a.b[0].c`, "" for the whole body), a query
 * parameter or a header. Names that a caller chose are cut and escaped. `message` contains no input.
 */
export interface Violation {
  readonly code: ViolationCode;
  readonly field: string;
  readonly message: string;
}

/** A violation that this package found. */
export interface TranscoderViolation extends Violation {
  readonly code: TranscoderViolationCode;
}
