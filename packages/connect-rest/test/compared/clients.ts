/**
 * Cases of generated clients. As in gapic-showcase's compliance suite, each message is sent by each kind of binding.
 * The messages are our own, of the type library.v1.Kinds.
 */

/** Bindings, with the fields that a client sends in the path. The rest is in the body or in the query. */
export const bindings = {
  body: { rule: "POST /repeat:body", body: "*" },
  bodyPut: { rule: "PUT /repeat:bodyput", body: "*" },
  bodyPatch: { rule: "PATCH /repeat:bodypatch", body: "*" },
  bodyField: { rule: "POST /repeat:bodyfield", body: "child" },
  query: { rule: "GET /repeat:query" },
  simplePath: { rule: "GET /repeat/{child.id}/{child.i32}/{child.real}/{child.flag}/{child.genre}:simplepath" },
  pathResource: {
    rule: "GET /repeat/{child.id=first/*}/{child.child.id=second/*}/bool/{child.flag}:pathresource",
    additional: [{ rule: "GET /repeat/{child.child.id=first/*}/{child.id=second/*}/bool/{child.flag}:childfirst" }],
  },
  trailingResource: { rule: "GET /repeat/{child.id=first/*}/{child.child.id=second/**}:trailing" },
} as const;

type BindingName = keyof typeof bindings;

/** A message as JSON, and the bindings by which clients send it. */
export interface Sent {
  readonly about: string;
  readonly by: readonly BindingName[];
  readonly message: Readonly<Record<string, unknown>>;
  /** The template of the binding that must answer, where a method has several. */
  readonly template?: string;
}

const everyBody = ["body", "bodyPut", "bodyPatch", "query"] as const;
const every = [...everyBody, "bodyField", "simplePath"] as const;
const numbers = { i32: -1, s32: -2, sf32: -3, u32: 5, f32: 7, i64: "-11", u64: "19", real: -29e4, single: -31 };

export const messages: readonly Sent[] = [
  {
    about: "values of every type",
    by: every,
    message: {
      ...numbers,
      optI32: -47,
      longText: "-110",
      child: {
        id: "Good day",
        flag: true,
        genre: "ESSAY",
        ...numbers,
        optText: "Goodbye",
        optI32: -37,
        child: { id: "second/bool/x" },
      },
    },
  },
  {
    about: "no optional fields",
    by: every,
    message: { child: { id: "Good day", i32: 1, real: 1.5, flag: true, genre: "NOVEL" } },
  },
  {
    about: "zero values beside a text",
    by: [...everyBody, "bodyField"],
    message: {
      child: { id: "Good day", i32: 0, real: 0, flag: false, genre: "GENRE_UNSPECIFIED", optText: "", optI32: 0 },
    },
  },
  {
    about: "zero values only",
    by: [...everyBody, "bodyField"],
    message: {
      i32: 0,
      optI32: 0,
      child: { id: "", i64: "0", u64: "0", single: 0, flag: false, optText: "", optI32: 0 },
    },
  },
  {
    about: "the largest values, and a text that is hard to escape",
    by: every,
    message: {
      child: {
        id: '☺ → ← "\\/\b\f\r\t\u1234 100% + & = ? # ;',
        i32: 2147483647,
        s32: 2147483647,
        u32: 4294967295,
        i64: "9223372036854775807",
        u64: "18446744073709551615",
        real: 1.7976931348623157e308,
        single: 3.4028234663852886e38,
        flag: true,
        genre: "NOVEL",
      },
    },
  },
  ...["Good day there", 'Good "day"', "Good day 100%", "a/b", "..", "a:b", "{id}"].map(
    (id): Sent => ({
      about: `the text ${id}`,
      by: every,
      message: { child: { id, i32: 1, real: 1, flag: true, genre: "NOVEL" } },
    }),
  ),
  {
    about: "texts that look like the templates of others",
    by: everyBody,
    message: { child: { id: "first/hello/second/greetings", flag: true, child: { id: "second/zzz/bool/true" } } },
  },
  {
    about: "resource names: the first binding",
    by: ["pathResource"],
    message: { child: { id: "first/hello", flag: true, child: { id: "second/greetings" } } },
    template: "/repeat/{child.id=first/*}/{child.child.id=second/*}/bool/{child.flag}:pathresource",
  },
  {
    about: "resource names: the additional binding",
    by: ["pathResource"],
    message: { child: { id: "second/greetings", flag: true, child: { id: "first/hello" } } },
    template: "/repeat/{child.child.id=first/*}/{child.id=second/*}/bool/{child.flag}:childfirst",
  },
  {
    about: "a resource name of any number of segments",
    by: ["trailingResource"],
    message: { child: { id: "first/hello", child: { id: "second/a/b/c" } } },
  },
  {
    about: "an enumeration value that the server does not know",
    by: everyBody,
    message: { genre: 99, child: { id: "x", genre: 98 } },
  },
];

/** Query strings that generated clients add. They change nothing. */
export const systemQueries = [
  "$alt=json",
  "%24alt=json%3Benum-encoding=int",
  "alt=json%3Benum-encoding%3Dint",
  "$prettyPrint=0&key=k",
];
