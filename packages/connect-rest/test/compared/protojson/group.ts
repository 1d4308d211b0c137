/**
 * JSON that is read as a message library.v1.Kinds, Names, Aliases or Envelope, and the same in its canonical form.
 * Without a canonical form, the JSON is canonical itself.
 */
export type Accepted = readonly [json: string, canonical?: Readonly<Record<string, unknown>>];

/** Cases of one subject. */
export interface Group {
  readonly about: string;
  readonly message: "Kinds" | "Names" | "Aliases" | "Envelope";
  readonly accepted: readonly Accepted[];
  readonly refused: readonly string[];
}
