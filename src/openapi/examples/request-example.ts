import type { JsonObject } from "@bufbuild/protobuf";

/** What a member of a request is taken from: a member of the answer to another example. */
export interface Source {
  /** The name of an example. */
  readonly example: string;
  /** Where in the answer of its RPC: `options[0].optionToken`. */
  readonly member: string;
}

/** A request that succeeds in the demo tenant as it stands. */
export interface RequestExample {
  /** The request message in its JSON form, whatever of it stands in a path over REST. */
  readonly request: JsonObject;
  /** The members that nobody can know beforehand; they hold something of the right form. */
  readonly taken?: Readonly<Record<string, Source>>;
  /** What else must be so. */
  readonly note?: string;
}

/**
 * Examples by the name of their RPC. One that another example takes something from, but that is not the first of its RPC, has a
 * word behind the name: `SearchAppointmentOptions toMove`.
 */
export type RequestExamples = Readonly<Record<string, RequestExample>>;

/** The local date (America/Bogota) so many days from now, YYYY-MM-DD. */
export type Day = (fromNow: number) => string;

/** What stands in place of an id that is taken from elsewhere. */
export const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";

/** An example that works as it stands. */
export function example(request: JsonObject): RequestExample {
  return { request };
}

/** An example of a request with an id, or a version, that another example answers. */
export function exampleOf(member: string, source: Source, request: JsonObject = {}): RequestExample {
  return { request: { [member]: UNKNOWN_ID, ...request }, taken: { [member]: source } };
}
