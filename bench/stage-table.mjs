import { markdownTable } from "./markdown-table.mjs";

/**
 * A table in Markdown of what each stage of a request takes, dearest first, of requests that take `usOfARequest` of processor time
 * each.
 *
 * @param {object} tree as stagedTree gives it
 * @param {number} usOfARequest
 */
export function stageTable(tree, usOfARequest) {
  const rows = stageShares(tree).map(([stage, share]) => [
    stage,
    (share * usOfARequest).toFixed(1),
    `${(share * 100).toFixed(1)} %`,
  ]);
  return markdownTable(["stage", "µs a request", "share"], rows);
}

/** The stages of a tree with their shares, 0 to 1, the dearest first. */
export function stageShares(tree) {
  const shares = new Map();
  const visit = ({ stage, own, children }) => {
    if (own > 0) shares.set(stage, (shares.get(stage) ?? 0) + own);
    for (const child of children) visit(child);
  };
  visit(tree);
  return [...shares].toSorted(([, a], [, b]) => b - a);
}
