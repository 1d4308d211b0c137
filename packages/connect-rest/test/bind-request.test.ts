import { describe, expect, test } from "vitest";
import { makeService } from "./support/make-service.js";
import { bind, refusal } from "./support/outcomes.js";

const json = { "content-type": "application/json" };
const book = "shelves/a/books/b";

describe("a request becomes the message", () => {
  test.each([
    ["GET /v1/shelves/a/books/b", "GetBook", { name: book }],
    ["GET /v1/shelves/a%2Fx/books/b%20c", "GetBook", { name: "shelves/a%2Fx/books/b c" }],
    ["GET /v1/shelves/a/books/b:c", "GetBook", { name: "shelves/a/books/b:c" }],
    ["GET /v1/books/a%2Fb", "GetBook", { name: "a/b" }],
    ["GET /v1/books/a%252Fb", "GetBook", { name: "a%2Fb" }],
    ["GET /v1/books/a+b", "GetBook", { name: "a+b" }],
    ["GET /v1/books/%F0%9F%98%80", "GetBook", { name: "😀" }],
    ["GET /v1/books/..", "GetBook", { name: ".." }],
    ["GET http://elsewhere/v1/books/x", "GetBook", { name: "x" }],
    ["POST /v1/shelves/a/books/b:archive", "ArchiveBook", { name: book }],
    ["DELETE /v1/shelves/a/books/b", "DeleteBook", { name: book }],
    ["GET /v1/files", "ReadFile", {}],
    ["GET /v1/files/a/b%2Fc/d%20e", "ReadFile", { path: "a/b%2Fc/d e" }],
    ["GET /v1/shelves/a/books", "ListBooks", { shelf: "a" }],
    ["GET /v1/shelves/a/books?", "ListBooks", { shelf: "a" }],
    ["GET /v1/shelves/a/books?&&", "ListBooks", { shelf: "a" }],
    ["GET /v1/shelves/a/books?pageSize=0", "ListBooks", { shelf: "a", pageSize: 0 }],
    ["GET /v1/shelves/a/books?pageSize=5.0", "ListBooks", { shelf: "a", pageSize: 5 }],
    [
      "GET /v1/shelves/a/books?genres=NOVEL&pageSize=1&genres=ESSAY",
      "ListBooks",
      { shelf: "a", pageSize: 1, genres: ["NOVEL", "ESSAY"] },
    ],
    ["GET /v1/shelves/a/books?author.fullName=a+b%2Bc=d", "ListBooks", { shelf: "a", author: { fullName: "a b+c=d" } }],
    [
      "GET /v1/shelves/a/books?%61uthor.ghostWriter.fullName=x&author.fullName",
      "ListBooks",
      { shelf: "a", author: { ghostWriter: { fullName: "x" } } },
    ],
    [
      "GET /v1/shelves/a/books?since=2026-01-01T00:00:00-05:00",
      "ListBooks",
      { shelf: "a", since: "2026-01-01T05:00:00Z" },
    ],
    [
      "GET /v1/shelves/a/books?page_size=2&author.full_name=x&author.ghost_writer.fullName=y&genres=NOVEL",
      "ListBooks",
      { shelf: "a", pageSize: 2, author: { fullName: "x", ghostWriter: { fullName: "y" } }, genres: ["NOVEL"] },
    ],
    [
      "GET /v1/kinds/x?opt_i32=1&wrapped_text=%22y%22&mask=*",
      "QueryKinds",
      { id: "x", optI32: 1, wrappedText: '"y"', mask: "*" },
    ],
    ["GET /v1/kinds/x?lasts=-315576000000.999999999s", "QueryKinds", { id: "x", lasts: "-315576000000.999999999s" }],
    ["GET /v1/shelves/a/books?byDate=false", "ListBooks", { shelf: "a", byDate: false }],
    [
      "GET /v1/kinds/x?flag=true&u64=18446744073709551615&real=NaN&data=AQI%3D&wrappedLong=5&lasts=1.5s&mask=a,b&number=7",
      "QueryKinds",
      {
        id: "x",
        flag: true,
        u64: "18446744073709551615",
        real: "NaN",
        data: "AQI=",
        wrappedLong: "5",
        lasts: "1.500s",
        mask: "a,b",
        number: "7",
      },
    ],
    [
      "GET /v1/kinds/x?wrappedTexts=a&times=2026-01-01T00:00:00Z&numbers=1&numbers=2",
      "QueryKinds",
      { id: "x", wrappedTexts: ["a"], times: ["2026-01-01T00:00:00Z"], numbers: [1, 2] },
    ],
    ["BREW /v1/probe", "Probe", {}],
  ])("%s", async (line, method, message) => {
    const [verb = "", path = ""] = line.split(" ");
    expect(await bind(verb === "BREW" ? "POST" : verb, path)).toEqual({ method, message });
  });

  test.each([
    [
      "POST /v1/shelves/a/books",
      '{"title":"x","pages":3}',
      "CreateBook",
      { shelf: "a", book: { title: "x", pages: 3 } },
    ],
    ["POST /v1/shelves/a/books?dryRun=true", "{}", "CreateBook", { shelf: "a", book: {}, dryRun: true }],
    ["PATCH /v1/shelves/a/books/b:rename", '{"title":"x"}', "RenameBook", { book: { name: book, title: "x" } }],
    [
      "PATCH /v1/shelves/a/books/b:rename?updateMask=title",
      "{}",
      "RenameBook",
      { book: { name: book }, updateMask: "title" },
    ],
    ["POST /v1/kinds", '{"id":"x"}', "EchoKinds", { id: "x" }],
    ["PATCH /v1/shelves/a/books/b", "{}", "UpdateBook", { shelf: "a", id: "b", updateMask: "" }],
    [
      "PATCH /v1/shelves/a/books/b",
      '{"author":{"fullName":"x"},"expectedVersion":1,"tags":[],"title":"t"}',
      "UpdateBook",
      {
        shelf: "a",
        id: "b",
        title: "t",
        expectedVersion: 1,
        author: { fullName: "x" },
        updateMask: "title,tags,expectedVersion,author",
      },
    ],
  ])("%s with %s", async (line, body, method, message) => {
    const [verb = "", path = ""] = line.split(" ");
    expect(await bind(verb, path, { headers: json, body })).toEqual({ method, message });
  });
});

describe("a path or a query is malformed", () => {
  test.each([
    ["/v1/books/%zz", "INVALID_FORMAT name"],
    ["/v1/books/%", "INVALID_FORMAT name"],
    ["/v1/books/%ff", "INVALID_FORMAT name"],
    ["/v1/books/%C0%AF", "INVALID_FORMAT name"],
    ["/v1/books/%ED%A0%80", "INVALID_FORMAT name"],
    ["/v1/books/a|b", "INVALID_FORMAT name"],
    ["/v1/books/a#b", "INVALID_FORMAT name"],
    ["/v1/books/%00", "INVALID_VALUE name"],
    ["/v1/shelves/a/books/%zz", "INVALID_FORMAT name"],
    ["/v1/books/x?name=y", "UNKNOWN_FIELD name"],
    ["/v1/books/x?%00=y", "UNKNOWN_FIELD \\u0000"],
    ["/v1/shelves/a/books?page_size=1&pageSize=1", "DUPLICATE pageSize"],
    [
      "/v1/shelves/a/books?author.addresses=x&author.full_name=y&author.fullName=z",
      "DUPLICATE author.fullName, UNKNOWN_FIELD author.addresses",
    ],
    ["/v1/books/x?page_size=1", "UNKNOWN_FIELD page_size"],
    ["/v1/shelves/a/books?shelf=b", "UNKNOWN_FIELD shelf"],
    ["/v1/shelves/a/books?PageSize=1", "UNKNOWN_FIELD PageSize"],
    ["/v1/shelves/a/books?author=x", "UNKNOWN_FIELD author"],
    ["/v1/shelves/a/books?author.addresses.city=x", "UNKNOWN_FIELD author.addresses.city"],
    ["/v1/shelves/a/books?author.fullName.x=y", "UNKNOWN_FIELD author.fullName.x"],
    ["/v1/shelves/a/books?author..fullName=y", "UNKNOWN_FIELD author..fullName"],
    ["/v1/shelves/a/books?since.seconds=1", "UNKNOWN_FIELD since.seconds"],
    ["/v1/shelves/a/books?labels.a=b", "UNKNOWN_FIELD labels.a"],
    ["/v1/shelves/a/books?labels[a]=b", "UNKNOWN_FIELD labels[a]"],
    ["/v1/shelves/a/books?genres[]=NOVEL", "UNKNOWN_FIELD genres[]"],
    ["/v1/shelves/a/books?=x", "UNKNOWN_FIELD "],
    [
      `/v1/shelves/a/books?author.${"ghostWriter.".repeat(15)}fullName=x`,
      `UNKNOWN_FIELD ${`author.${"ghostWriter.".repeat(15)}`.slice(0, 64)}`,
    ],
    ["/v1/shelves/a/books?constructor=x&__proto__=y", "UNKNOWN_FIELD constructor, UNKNOWN_FIELD __proto__"],
    ["/v1/shelves/a/books?pageSize=x", "INVALID_TYPE pageSize"],
    ["/v1/shelves/a/books?pageSize=", "INVALID_TYPE pageSize"],
    ["/v1/shelves/a/books?pageSize=0x10", "INVALID_TYPE pageSize"],
    ["/v1/shelves/a/books?pageSize=2147483648", "OUT_OF_RANGE pageSize"],
    ["/v1/shelves/a/books?pageSize=1&pageSize=1", "DUPLICATE pageSize"],
    ["/v1/shelves/a/books?genres=novel&genres=ESSAY&genres=1", "INVALID_VALUE genres[0], INVALID_VALUE genres[2]"],
    ["/v1/shelves/a/books?byTitle=true&byDate=true", "INVALID_VALUE byDate"],
    ["/v1/shelves/a/books?since=yesterday", "INVALID_DATE_TIME since"],
    ["/v1/shelves/a/books?pageSize=%zz", "INVALID_FORMAT pageSize"],
    ["/v1/shelves/a/books?p%zz=1", "INVALID_FORMAT p%zz"],
    [
      "/v1/shelves/a/books?nope=1&since=x&pageSize=x",
      "INVALID_TYPE pageSize, INVALID_DATE_TIME since, UNKNOWN_FIELD nope",
    ],
    ["/v1/kinds/x?struct=1", "UNKNOWN_FIELD struct"],
    ["/v1/kinds/x?value=1", "UNKNOWN_FIELD value"],
    ["/v1/kinds/x?child=1", "UNKNOWN_FIELD child"],
    ["/v1/kinds/x?flag=1", "INVALID_TYPE flag"],
    ["/v1/kinds/x?text=a&address.city=b", "INVALID_VALUE address.city"],
  ])("%s", async (path, violations) => {
    expect(await refusal("GET", path)).toEqual({ reason: "MALFORMED", violations });
  });

  test("but not with field names of as many parts as a body may nest", async () => {
    expect(await refusal("GET", `/v1/shelves/a/books?author.${"ghostWriter.".repeat(14)}fullName=x`)).toBe("answered");
  });

  test("if no variable takes the segment either", async () => {
    const service = makeService({ name: "Any", rule: "GET /a/*/{id}" });
    expect(await refusal("GET", "/a/%zz/x", {}, { services: [service] })).toMatchObject({ reason: "MALFORMED" });
    expect(await refusal("GET", "/a/%41/x", {}, { services: [service] })).toBe("answered");
  });

  test("if two members of a oneof come from the path and the query", async () => {
    const service = makeService({ name: "Any", rule: "GET /a/{text}" });
    const outcome = await refusal("GET", "/a/x?number=1", {}, { services: [service] });
    expect(outcome).toEqual({ reason: "MALFORMED", violations: "INVALID_VALUE number" });
  });

  test("if a number in the path is invalid", async () => {
    const service = makeService({ name: "Any", rule: "GET /a/{i32}/{child.genre}" });
    const outcome = await refusal("GET", "/a/x/NOVELS", {}, { services: [service] });
    expect(outcome).toEqual({ reason: "MALFORMED", violations: "INVALID_TYPE i32, INVALID_VALUE child.genre" });
  });

  test("if there is a query besides a body that is the whole message", async () => {
    const outcome = await refusal("POST", "/v1/kinds?flag=true", { headers: json, body: "not JSON" });
    expect(outcome).toEqual({ reason: "MALFORMED", violations: "UNKNOWN_FIELD flag" });
  });
});
