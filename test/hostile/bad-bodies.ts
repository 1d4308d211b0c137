import { body, bytes, type Change, chunked, consent, field, header, MARKER, member, version } from "./change.js";

/** A change of a valid request, the expected status and, if checked, the field errors. */
export type Row = readonly [name: string, status: number, change: Change, items?: readonly string[]];

const KIB = 1024;

/** Bodies that are not valid JSON, or exceed a limit of the parser. */
export const bodiesThatAreNoJson: readonly Row[] = [
  ["a member twice", 400, body((json) => json.replace("{", '{"phone":"12345",'))],
  ["a member twice, once with an escape", 400, body((json) => json.replace("{", '{"p\\u0068one":"12345",'))],
  ["nesting of 17 levels", 400, body(() => `{"phone":${"[".repeat(16)}${"]".repeat(16)}}`)],
  ["nesting of 10,000 levels", 400, body(() => "[".repeat(10_000))],
  ["a byte order mark", 400, body((json) => `\ufeff${json}`)],
  ["bytes that are not UTF-8", 400, bytes((json) => json.replace(MARKER, "\xff\xfe"))],
  ["overlong UTF-8", 400, bytes((json) => json.replace(MARKER, "\xc0\xaf"))],
  ["a surrogate in UTF-8", 400, bytes((json) => json.replace(MARKER, "\xed\xa0\x80"))],
  ["UTF-16", 400, (good) => ({ ...good, body: Buffer.from(String(good.body), "utf16le") })],
  ["a truncated document", 400, body((json) => json.slice(0, -1))],
  ["text after the document", 400, body((json) => `${json}x`)],
  ["two documents", 400, body((json) => json + json)],
  ["a comment", 400, body((json) => json.replace("{", "{/* hostile-marker */"))],
  ["a trailing comma", 400, body((json) => json.replace(/}$/, ",}"))],
  ["single quotes", 400, body((json) => json.replaceAll('"', "'"))],
  ["NaN", 400, body(() => '{"phone":NaN}')],
  ["a leading zero", 400, body(() => '{"phone":01}')],
  ["a line break in a string", 400, body((json) => json.replace(MARKER, "\n"))],
  ["an escape that does not exist", 400, body((json) => json.replace(MARKER, "\\x41"))],
  ["an empty body", 400, body(() => "")],
  ["only whitespace", 400, body(() => " \n ")],
  ["more than 64 KiB", 400, body((json) => json.padEnd(64 * KIB + 1))],
  ["more than 64 KiB in chunks", 400, chunked((json) => json.padEnd(64 * KIB + 1))],
  ["a declared length of a terabyte", 400, header("Content-Length", String(1024 ** 4))],
];

/** Valid JSON with wrong fields. Some rows look wrong but are valid. */
export const bodiesOfTheWrongShape: readonly Row[] = [
  ["an array", 422, body((json) => `[${json}]`)],
  ["a string", 422, body(() => `"${MARKER}"`)],
  ["a number", 422, body(() => "5")],
  ["null", 422, body(() => "null")],
  ["nesting of 16 levels", 422, body(() => `{"phone":${"[".repeat(15)}${"]".repeat(15)}}`)],
  ["a member __proto__", 422, member("__proto__", "{}"), ["__proto__ UNKNOWN_FIELD"]],
  ["a member constructor", 422, member("constructor", "{}"), ["constructor UNKNOWN_FIELD"]],
  ["an unknown member", 422, member("zip", '"hostile-marker"'), ["zip UNKNOWN_FIELD"]],
  ["an empty member name", 422, member("", "1"), [" UNKNOWN_FIELD"]],
  [
    "a snake_case name",
    422,
    body((json) => json.replace("fullName", "full_name")),
    ["fullName REQUIRED", "full_name UNKNOWN_FIELD"],
  ],
  ["null in an optional field", 422, field("email", "null"), ["email INVALID_TYPE"]],
  ["an object for a string", 422, field("fullName", '{"hostile-marker":1}'), ["fullName INVALID_TYPE"]],
  ["a number for a string", 422, field("documentNumber", "12345678"), ["documentNumber INVALID_TYPE"]],
  ["U+0000", 422, field("fullName", '"hostile-marker\\u0000"'), ["fullName INVALID_VALUE"]],
  ["a lone surrogate", 422, field("fullName", '"hostile-marker\\ud800"'), ["fullName INVALID_VALUE"]],
  ["30 February", 422, consent("2026-02-30T10:00:00Z"), ["consentGrantedAt INVALID_DATE_TIME"]],
  ["29 February of a common year", 422, consent("2025-02-29T10:00:00Z"), ["consentGrantedAt INVALID_DATE_TIME"]],
  ["the hour 24", 422, consent("2026-01-15T24:00:00Z"), ["consentGrantedAt INVALID_DATE_TIME"]],
  ["the second 60", 422, consent("2016-12-31T23:59:60Z"), ["consentGrantedAt INVALID_DATE_TIME"]],
  ["a time without an offset", 422, consent("2026-01-15T10:00:00"), ["consentGrantedAt INVALID_DATE_TIME"]],
  ["a date without a time", 422, consent("2026-01-15"), ["consentGrantedAt INVALID_DATE_TIME"]],
  ["a time in the year 10000", 422, consent("+010000-01-01T00:00:00Z"), ["consentGrantedAt INVALID_DATE_TIME"]],
  ["5 as a string", 422, version('"5"'), ["expectedVersion INVALID_TYPE"]],
  ["5.5", 422, version("5.5"), ["expectedVersion INVALID_TYPE"]],
  ["2147483648", 422, version("2147483648"), ["expectedVersion OUT_OF_RANGE"]],
  ["-2147483649", 422, version("-2147483649"), ["expectedVersion OUT_OF_RANGE"]],
  ["1e400", 422, version("1e400"), ["expectedVersion OUT_OF_RANGE"]],
  ["an exponent of a billion", 422, version("1e1000000000"), ["expectedVersion OUT_OF_RANGE"]],
  ["5.0 (an integer) for an unknown patient", 404, version("5.0")],
  ["-0 (an integer) for an unknown patient", 404, version("-0")],
];
