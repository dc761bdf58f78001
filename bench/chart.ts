import { formatCount } from './format.ts';
import type { Bar } from './section.ts';

const widthPx = 860;
const labelPx = 330;
const rowPx = 30;
const barPx = 16;
/** Space for the figure after the longest bar. */
const figurePx = 90;
const headPx = 44;

/** Follows the reader's colour scheme; shapes and figures are sufficient without colour. */
const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 15px; }
  .hub { fill: #0969da; } .peer { fill: #8c959f; } .limit { fill: #d4a72c; }
  .spread { stroke: #1f2328; stroke-width: 1.5; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .hub { fill: #4493f8; } .peer { fill: #6e7681; } .limit { fill: #bb8009; }
    .spread { stroke: #e6edf3; }
  }`;

/** Draws horizontal bars of medians, with a line from the lowest to the highest round. */
export function drawChart(title: string, bars: readonly Bar[]): string {
  const heightPx = headPx + bars.length * rowPx + 12;
  const most = Math.max(1, ...bars.map((bar) => bar.max));
  const scale = (widthPx - labelPx - figurePx) / most;
  const rows = bars.map((bar, at) => drawBar(bar, headPx + at * rowPx, scale));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${widthPx} ${heightPx}" ` +
    `width="${widthPx}" height="${heightPx}" role="img" aria-label="${escapeXml(title)}">\n` +
    `<style>${style}\n</style>\n` +
    `<text class="title" x="0" y="20">${escapeXml(title)}</text>\n${rows.join('')}</svg>\n`
  );
}

function drawBar({ label, value, min, max, tone }: Bar, y: number, scale: number): string {
  const middle = y + barPx / 2;
  const at = (figure: number) => (labelPx + figure * scale).toFixed(1);
  const textY = y + barPx - 3;
  return (
    `<text x="${labelPx - 10}" y="${textY}" text-anchor="end">${escapeXml(label)}</text>\n` +
    `<rect class="${tone}" x="${labelPx}" y="${y}" width="${(value * scale).toFixed(1)}" ` +
    `height="${barPx}" rx="2"/>\n` +
    `<line class="spread" x1="${at(min)}" x2="${at(max)}" y1="${middle}" y2="${middle}"/>\n` +
    `<text x="${Number(at(max)) + 8}" y="${textY}">${formatCount(value)}</text>\n`
  );
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
