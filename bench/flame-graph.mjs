import { escapeXml } from "./escape-xml.mjs";
import { foldTree } from "./fold-tree.mjs";
import { stageShares } from "./stage-table.mjs";
import { stageNames } from "./stages.mjs";

const WIDTH = 1200;
const MARGIN = 10;
const ROW = 17;
const LETTER = 6.6;
const SMALLEST = 0.002;
const LEGEND_COLUMNS = 5;
const LEGEND_TOP = 62;
const GOLDEN_ANGLE = 137.5;

/**
 * A flame graph as SVG, callers above what they call, each as wide as its share of the time, and coloured by its stage; what takes
 * less than two thousandths is left out. Each box says its share, function, file and stage to who points at it.
 *
 * @param {{ title: string, note: string, tree: object }} graph with a tree of stagedTree
 */
export function flameGraph({ title, note, tree }) {
  const shares = stageShares(tree);
  const top = LEGEND_TOP + Math.ceil(shares.length / LEGEND_COLUMNS) * ROW + MARGIN;
  const boxes = layOut(foldTree(tree));
  const height = top + (1 + Math.max(...boxes.map(({ depth }) => depth))) * ROW + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="${MARGIN}" y="24" font-size="18">${escapeXml(title)}</text>
<text x="${MARGIN}" y="44" font-size="12" fill="#555">${escapeXml(note)}</text>
${legend(shares)}
${boxes.map((box) => drawn(box, top)).join("\n")}
</svg>
`;
}

/** Of each stage the same in every picture, far from those beside it, and light enough for black letters. */
function colour(stage) {
  const i = stageNames.indexOf(stage);
  return `hsl(${Math.round(i * GOLDEN_ANGLE) % 360},${i % 2 === 0 ? 80 : 45}%,${66 + 9 * (i % 3)}%)`;
}

function legend(shares) {
  const width = (WIDTH - 2 * MARGIN) / LEGEND_COLUMNS;
  const entries = shares.map(([stage, share], i) => {
    const [x, y] = [MARGIN + (i % LEGEND_COLUMNS) * width, LEGEND_TOP + Math.floor(i / LEGEND_COLUMNS) * ROW];
    return `<rect x="${x}" y="${y}" width="11" height="11" fill="${colour(stage)}"/><text x="${x + 16}" y="${y + 10}">${escapeXml(`${stage} ${percent(share)}`)}</text>`;
  });
  return entries.join("\n");
}

/** The boxes of folded trees, each with its depth and where it begins, 0 to 1. */
function layOut(trees) {
  const boxes = [];
  const place = (nodes, depth, start) => {
    let from = start;
    for (const node of nodes.filter(({ share }) => share >= SMALLEST)) {
      boxes.push({ ...node, depth, from });
      place(node.children, depth + 1, from);
      from += node.share;
    }
  };
  place(trees, 0, 0);
  return boxes;
}

function drawn({ name, file, stage, share, depth, from }, top) {
  const scale = WIDTH - 2 * MARGIN;
  const [x, y, width] = [MARGIN + from * scale, top + depth * ROW, share * scale];
  const title = escapeXml([percent(share), name, file, `(${stage})`].filter(Boolean).join(" "));
  const letters = Math.floor((width - 4) / LETTER);
  const label =
    letters < 3 ? "" : `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escapeXml(shortened(name, letters))}</text>`;
  const box = `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(width - 0.5, 0.5).toFixed(1)}" height="${ROW - 1}" fill="${colour(stage)}"/>`;
  return `<g><title>${title}</title>${box}${label}</g>`;
}

function shortened(name, letters) {
  return name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}
