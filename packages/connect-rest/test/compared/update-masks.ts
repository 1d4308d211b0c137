/** Cases of update masks, after the tests of grpc-gateway, for bodies of library.v1.UpdateBookRequest. */
import type { Difference } from "./difference.js";

/** A PATCH body that is the whole message, and the paths of the mask in the order of the fields. */
export const filled: readonly (readonly [body: string, paths: readonly string[]])[] = [
  ["{}", []],
  ['{"title":"a"}', ["title"]],
  ['{"title":null}', ["title"]],
  ['{"expectedVersion":1,"title":"a"}', ["title", "expected_version"]],
  ['{"expected_version":1,"tags":["x"]}', ["tags", "expected_version"]],
  ['{"tags":[]}', ["tags"]],
  ['{"author":{}}', ["author"]],
  ['{"id":"other","title":"a"}', ["title"]],
  ['{"title":"a","updateMask":"tags,expected_version"}', ["tags", "expected_version"]],
  ['{"title":"a","updateMask":"*"}', ["*"]],
];

/** Bodies for which grpc-gateway fills the mask in another way. */
export const different: readonly (readonly [
  body: string,
  theirs: string,
  difference: Difference,
  paths: readonly string[],
])[] = [
  [
    '{"author":{"fullName":"x","addresses":[]}}',
    "grpc-gateway: author.full_name, author.addresses",
    "alternative-update-masks",
    ["author"],
  ],
];
