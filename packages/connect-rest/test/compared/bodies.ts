/**
 * Cases of whole requests, in which path, query and body make one message. They follow the tests of vanguard-go (REST
 * to RPC), grpc-gateway and Envoy's JSON transcoder, with bindings of our own.
 */
import type { MethodInit } from "../support/make-service.js";
import type { Difference } from "./difference.js";

/** A request to one binding: the message that it makes, or its violations or status. */
export interface Case {
  readonly about: string;
  readonly binding: Omit<MethodInit, "name">;
  readonly request: string;
  /** The body, as JSON text. Defaults to none. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly meant: object | string | number;
}

/** Requests in the protojson profile. The input is library.v1.Kinds unless the binding says otherwise. */
export const cases: readonly Case[] = [
  {
    about: "a GET without anything",
    binding: { rule: "GET /shelves" },
    request: "GET /shelves",
    meant: {},
  },
  {
    about: "a resource name of several segments",
    binding: { rule: "GET /{id=shelves/*/books/*}" },
    request: "GET /shelves/1/books/2",
    meant: { id: "shelves/1/books/2" },
  },
  {
    about: "a body that is one field, with parameters under either of their names",
    binding: { rule: "POST /{id=shelves/*}/books", body: "child" },
    request: "POST /shelves/1/books?optText=a&opt_i32=2",
    body: '{"id":"The Book","optText":"An Author"}',
    meant: { id: "shelves/1", optText: "a", optI32: 2, child: { id: "The Book", optText: "An Author" } },
  },
  {
    about: "a body that is a list",
    binding: { rule: "POST /{id=shelves/*}/books:move", body: "addresses" },
    request: "POST /shelves/1/books:move",
    body: '[{"city":"a"},{"city":"b"},{}]',
    meant: { id: "shelves/1", addresses: [{ city: "a" }, { city: "b" }, {}] },
  },
  {
    about: "a body that is a scalar",
    binding: { rule: "PUT /shelves/{id}/theme", body: "opt_text" },
    request: "PUT /shelves/1/theme",
    body: '"History"',
    meant: { id: "1", optText: "History" },
  },
  {
    about: "a body that is a map",
    binding: { rule: "PUT /shelves/{id}/counts", body: "counts" },
    request: "PUT /shelves/1/counts",
    body: '{"a":1}',
    meant: { id: "1", counts: { a: 1 } },
  },
  {
    about: "a body that is any JSON",
    binding: { rule: "PUT /shelves/{id}/payload", body: "value" },
    request: "PUT /shelves/1/payload",
    body: '{"nested":{"payload":"Good day"}}',
    meant: { id: "1", value: { nested: { payload: "Good day" } } },
  },
  {
    about: "a body that is a Struct",
    binding: { rule: "PUT /shelves/{id}/struct", body: "struct" },
    request: "PUT /shelves/1/struct",
    body: '{"payload":"Good day"}',
    meant: { id: "1", struct: { payload: "Good day" } },
  },
  {
    about: "the whole message in the body",
    binding: { rule: "POST /shelves", body: "*" },
    request: "POST /shelves",
    body: '{ "id" : "1", "optText" : "Russian" }',
    meant: { id: "1", optText: "Russian" },
  },
  {
    about: "fields of the path that go into messages of the body",
    binding: { rule: "PUT /{child.id}/{child.child.id}/{child.child.opt_text}", body: "*" },
    request: "PUT /a/b/c",
    body: '{"flag":true,"child":{"i32":1,"child":{"i32":2}}}',
    meant: { flag: true, child: { id: "a", i32: 1, child: { id: "b", optText: "c", i32: 2 } } },
  },
  {
    about: "fields of the path that make messages which the body does not have",
    binding: { rule: "PUT /{child.id}/{child.child.id}", body: "*" },
    request: "PUT /a/b",
    body: '{"i32":1}',
    meant: { i32: 1, child: { id: "a", child: { id: "b" } } },
  },
  {
    about: "fields of the path that the body repeats: the path wins",
    binding: { rule: "PUT /{child.id}/{child.child.id}", body: "*" },
    request: "PUT /a/b",
    body: '{"child":{"id":"x","child":{"id":"y","flag":true}}}',
    meant: { child: { id: "a", child: { id: "b", flag: true } } },
  },
  {
    about: "fields of the path in the one field of the body",
    binding: { rule: "PATCH /{child.id}", body: "child" },
    request: "PATCH /a?flag=true",
    body: '{"id":"x","i32":1}',
    meant: { flag: true, child: { id: "a", i32: 1 } },
  },
  {
    about: "a path and a query without a body",
    binding: { rule: "POST /shelves/{id}/{opt_text}" },
    request: "POST /shelves/1/Fiction?child.id=x",
    meant: { id: "1", optText: "Fiction", child: { id: "x" } },
  },
  {
    about: "parameters that are in the path too: the path wins",
    binding: { rule: "GET /shelves/{id}" },
    request: "GET /shelves/1?id=2&flag=true",
    meant: { id: "1", flag: true },
  },
  {
    about: "parameters that the body has: refused",
    binding: { rule: "POST /shelves", body: "child" },
    request: "POST /shelves?child.id=a&child.child.id=b&flag=true",
    body: "{}",
    meant: "UNKNOWN_FIELD child.id, UNKNOWN_FIELD child.child.id",
  },
  {
    about: "parameters beside a body that is the whole message: refused",
    binding: { rule: "POST /shelves", body: "*" },
    request: "POST /shelves?flag=true",
    body: "{}",
    meant: "UNKNOWN_FIELD flag",
  },
  {
    about: "a path field of the wrong type",
    binding: { rule: "GET /shelves/{i64}" },
    request: "GET /shelves/abc",
    meant: "INVALID_TYPE i64",
  },
  {
    about: "a path field that is a number, a bool, an enumeration",
    binding: { rule: "GET /{i64}/{real}/{flag}/{genre}" },
    request: "GET /-5/-54e4/true/ESSAY",
    meant: { i64: "-5", real: -540000, flag: true, genre: "ESSAY" },
  },
  ...['{"id"', '{"id":1', '{"id","flag":1}', '{"id":1]', '["id","flag":1]', '{"i32":1,{"a":["c"}]}', "nope"].map(
    (body): Case => ({
      about: `a body that is no JSON: ${body}`,
      binding: { rule: "POST /shelves", body: "*" },
      request: "POST /shelves",
      body,
      meant: 400,
    }),
  ),
  ...['"x"', "1", "[]", '["x"]', "true"].map(
    (body): Case => ({
      about: `a body of another type: ${body}`,
      binding: { rule: "POST /shelves", body: "*" },
      request: "POST /shelves",
      body,
      meant: "INVALID_TYPE ",
    }),
  ),
  {
    about: "a GET with a body",
    binding: { rule: "GET /shelves" },
    request: "GET /shelves",
    headers: { "Content-Type": "text/plain" },
    meant: {},
  },
  {
    about: "a body of another media type",
    binding: { rule: "POST /shelves", body: "*" },
    request: "POST /shelves",
    headers: { "Content-Type": "something application/json" },
    body: "{}",
    meant: "INVALID_VALUE Content-Type",
  },
  {
    about: "a body without a media type",
    binding: { rule: "POST /shelves", body: "*" },
    request: "POST /shelves",
    headers: {},
    body: "{}",
    meant: "INVALID_VALUE Content-Type",
  },
];

/** Requests that another project answers in another way. */
export const different: readonly (Case & { readonly theirs: string; readonly difference: Difference })[] = [
  {
    about: "a body that is empty",
    theirs: "grpc-gateway, Envoy: an empty message",
    difference: "empty-body",
    binding: { rule: "POST /shelves", body: "*" },
    request: "POST /shelves",
    body: "",
    meant: 400,
  },
  {
    about: "an unknown member",
    theirs: "Envoy, vanguard-go, grpc-gateway: ignored by default",
    difference: "unknown-fields",
    binding: { rule: "POST /shelves", body: "*" },
    request: "POST /shelves",
    body: '{"nope":{"a":1},"id":"1"}',
    meant: "UNKNOWN_FIELD nope",
  },
  {
    about: "an enumeration in lower case",
    theirs: "Envoy: read, if an option is set",
    difference: "lower-case-enums",
    binding: { rule: "POST /shelves", body: "*" },
    request: "POST /shelves",
    body: '{"genre":"essay"}',
    meant: "INVALID_VALUE genre",
  },
  {
    about: "a POST with a header that changes its method",
    theirs: "grpc-gateway: the GET",
    difference: "method-override",
    binding: { rule: "GET /shelves" },
    request: "POST /shelves",
    headers: { "X-HTTP-Method-Override": "GET", "Content-Type": "application/x-www-form-urlencoded" },
    body: "id=x",
    meant: 405,
  },
];

/** Bindings that Envoy accepts and we reject at construction. */
export const refusedBindings: readonly (readonly [
  binding: Omit<MethodInit, "name">,
  theirs: string,
  difference: Difference,
])[] = [
  [{ rule: "PUT /c/d", body: "child.child" }, "Envoy: the body is a field of a field", "nested-bodies"],
  [{ rule: "GET /a", body: "child" }, "Envoy: a GET with a body", "get-with-body"],
];
