/** How long, in seconds, calls wait for their turn and a connection where a test is not about that: a busy machine takes its time. */
export const PATIENT = "30";
