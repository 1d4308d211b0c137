/**
 * Seconds that calls wait for admission and for a connection in tests that do not test these limits. A busy machine
 * needs it.
 */
export const PATIENT = "30";
