import { stageOf } from "./stages.mjs";

/**
 * The calls of a CPU profile as a tree: each node with its frame, its stage (see stages.mjs), its own share of the time in which the
 * process was not idle, 0 to 1, and its children; the root has the number of `samples` that were taken in that time, too.
 *
 * Each sample counts the same. Counted by the clock, a sample would have the time for which others had the processor, too.
 *
 * @param {{ nodes: readonly object[], samples: readonly number[] }} profile
 */
export function stagedTree({ nodes, samples }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const taken = new Map();
  for (const id of samples) taken.set(id, (taken.get(id) ?? 0) + 1);
  const tree = (node, inherited) => {
    const stage = stageOf(node.callFrame, inherited);
    const children = (node.children ?? []).map((id) => tree(byId.get(id), stage));
    return { frame: node.callFrame, stage, own: taken.get(node.id) ?? 0, children };
  };
  const root = tree(nodes[0], undefined);
  dropIdle(root);
  const busy = sum(root);
  scale(root, 1 / busy);
  return { ...root, samples: busy };
}

/** What the node and all below it have of their own. */
function sum({ own, children }) {
  return children.reduce((all, child) => all + sum(child), own);
}

function dropIdle(node) {
  node.children = node.children.filter(({ stage }) => stage !== "idle");
  for (const child of node.children) dropIdle(child);
}

function scale(node, factor) {
  node.own *= factor;
  for (const child of node.children) scale(child, factor);
}
