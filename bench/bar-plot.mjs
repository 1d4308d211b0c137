import { escapeXml } from "./escape-xml.mjs";

const WIDTH = 720;
const LABEL_WIDTH = 260;
const BAR_WIDTH = WIDTH - LABEL_WIDTH - 90;
const ROW = 34;
const HEAD = 64;

/**
 * A plot of horizontal bars as SVG, each with its value behind it, and a note below the title.
 *
 * @param {{ title: string, note: string, bars: readonly { label: string, value: number }[] }} plot
 */
export function barPlot({ title, note, bars }) {
  const most = Math.max(...bars.map(({ value }) => value));
  const height = HEAD + bars.length * ROW + 10;
  const rows = bars.map(({ label, value }, i) => {
    const y = HEAD + i * ROW;
    const width = ((value / most) * BAR_WIDTH).toFixed(1);
    return `  <text x="${LABEL_WIDTH - 10}" y="${y + 17}" text-anchor="end">${escapeXml(label)}</text>
  <rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="24" fill="#3b6ea5"/>
  <text x="${LABEL_WIDTH + Number(width) + 8}" y="${y + 17}">${Math.round(value)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="14">
  <rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
  <text x="10" y="24" font-size="18">${escapeXml(title)}</text>
  <text x="10" y="46" font-size="12" fill="#555555">${escapeXml(note)}</text>
${rows.join("\n")}
</svg>
`;
}
