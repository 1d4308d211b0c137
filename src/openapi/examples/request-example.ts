import type { JsonObject } from "@bufbuild/protobuf";

/** The source of a request member: a member of the answer to another example. */
export interface Source {
  /** The name of an example. */
  readonly example: string;
  /** Path of the member in the answer to this example, such as `options[0].optionToken`. */
  readonly member: string;
}

/** A request that succeeds in the demo tenant. */
export interface RequestExample {
  /** The request message in JSON, including the members that REST has in the path. */
  readonly request: JsonObject;
  /**
   * Maps the path of a request member, such as `choices[0].appointmentId`, to the source of its value in the answer to
   * another example. In `request`, this member contains a placeholder of the right form.
   */
  readonly taken?: Readonly<Record<string, Source>>;
  /** A sentence with another condition that must hold for the request to succeed. */
  readonly note?: string;
}

/**
 * Examples by the name of their RPC. A second example of the same RPC has a word after the name:
 * `SearchAppointmentOptions toMove`.
 */
export type RequestExamples = Readonly<Record<string, RequestExample>>;

/** Returns the local date (America/Bogota) `fromNow` days from now, YYYY-MM-DD. */
export type Day = (fromNow: number) => string;

/** Placeholder for an id from another answer. */
export const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";

/** Creates an example whose request needs no value from the answer to another example. */
export function example(request: JsonObject): RequestExample {
  return { request };
}

/**
 * Creates an example in which the value of `member` comes from the answer to another example. `request` has the other
 * members. In the created request, `member` has the placeholder {@link UNKNOWN_ID}. If `member` is not an id, put
 * another placeholder for it in `request`.
 */
export function exampleOf(member: string, source: Source, request: JsonObject = {}): RequestExample {
  return { request: { [member]: UNKNOWN_ID, ...request }, taken: { [member]: source } };
}
