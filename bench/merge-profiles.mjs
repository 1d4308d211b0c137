/**
 * One CPU profile of several that were taken one after the other: nodes with the same callers are one, and the samples follow each
 * other as if no time had passed between.
 *
 * @param {readonly object[]} profiles as `Profiler.stop` gives them, at least one
 */
export function mergeProfiles(profiles) {
  const nodes = [];
  const known = new Map();
  const merged = { nodes, samples: [], timeDeltas: [], startTime: profiles[0].startTime };
  for (const profile of profiles) {
    const ids = addNodes(profile, nodes, known);
    for (const id of profile.samples) merged.samples.push(ids.get(id));
    for (const delta of profile.timeDeltas) merged.timeDeltas.push(delta);
  }
  merged.endTime = merged.startTime + merged.timeDeltas.reduce((sum, delta) => sum + delta, 0);
  return merged;
}

/** Gives the ids that the nodes of a profile have among those merged; `known` has those by their parent and their place. */
function addNodes(profile, nodes, known) {
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const ids = new Map();
  const add = (node, parent) => {
    const { functionName, scriptId, lineNumber, columnNumber } = node.callFrame;
    const key = `${parent?.id} ${functionName} ${scriptId} ${lineNumber} ${columnNumber}`;
    const own = known.get(key) ?? { id: nodes.length + 1, callFrame: node.callFrame, hitCount: 0, children: [] };
    if (!known.has(key)) {
      known.set(key, own);
      nodes.push(own);
      parent?.children.push(own.id);
    }
    own.hitCount += node.hitCount ?? 0;
    ids.set(node.id, own.id);
    for (const child of node.children ?? []) add(byId.get(child), own);
  };
  add(profile.nodes[0], undefined);
  return ids;
}
