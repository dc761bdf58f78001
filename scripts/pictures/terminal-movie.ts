import xterm, { type Terminal } from '@xterm/headless';

/** The output of a terminal, each part with its time in ms since the first one. */
export interface Recording {
  columns: number;
  rows: number;
  parts: readonly { atMs: number; text: string }[];
}

/** A screen of the terminal, and how long it stays. */
interface Frame {
  lines: readonly Span[][];
  durationMs: number;
}

interface Span {
  text: string;
  /** Names of classes: `b`, `d`, and `c` with the number of the colour. */
  style: string;
}

/** A screen that stays longer is shortened, so that the movie has no dull pauses. */
const PAUSE_MS_MAX = 1_200;
/** Changes within this time are one screen. */
const FRAME_MS_MIN = 80;
/** The last screen, before the movie begins again. */
const LAST_MS = 6_000;

const CELL_WIDTH = 8.4;
const LINE_HEIGHT = 19;
const MARGIN = 18;
/** The sixteen colours of a terminal on a dark ground, by number. */
const colors = [
  ...['#4b5263', '#ff8b83', '#7ddb9a', '#f0be60', '#82bbff', '#d7a6ff', '#6fd6d6', '#d5d9e0'],
  ...['#7b8394', '#ffaaa3', '#9ce8b3', '#ffd588', '#a8d0ff', '#e6c6ff', '#97e6e6', '#ffffff'],
];

/** Plays a recording in a terminal emulator and draws it as an SVG that moves by CSS alone. */
export async function drawMovie(recording: Recording): Promise<string> {
  const frames = await readFrames(recording);
  return drawFrames(frames, recording);
}

async function readFrames({ columns, rows, parts }: Recording): Promise<Frame[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const frames: Frame[] = [];
  for (const [index, { atMs, text }] of parts.entries()) {
    await new Promise<void>((done) => terminal.write(text, done));
    const next = parts[index + 1];
    const durationMs = next === undefined ? LAST_MS : Math.min(next.atMs - atMs, PAUSE_MS_MAX);
    if (durationMs >= FRAME_MS_MIN) frames.push({ lines: readScreen(terminal), durationMs });
  }
  terminal.dispose();
  return frames;
}

function readScreen(terminal: Terminal): Span[][] {
  const { active } = terminal.buffer;
  return Array.from({ length: terminal.rows }, (_, row) => {
    const line = active.getLine(active.viewportY + row);
    const spans: Span[] = [];
    for (let column = 0; line !== undefined && column < terminal.cols; column++) {
      const cell = line.getCell(column);
      if (cell === undefined) break;
      const style = [
        cell.isBold() === 0 ? '' : 'b',
        cell.isDim() === 0 ? '' : 'd',
        cell.isFgPalette() ? `c${cell.getFgColor()}` : '',
      ]
        .filter(Boolean)
        .join(' ');
      const last = spans.at(-1);
      const text = cell.getChars() || ' ';
      if (last?.style === style) last.text += text;
      else spans.push({ text, style });
    }
    return trimEnd(spans);
  });
}

function trimEnd(spans: Span[]): Span[] {
  const last = spans.at(-1);
  if (last === undefined) return spans;
  last.text = last.text.trimEnd();
  if (last.text !== '') return spans;
  spans.pop();
  return trimEnd(spans);
}

/** Each different line is drawn once; the frames stand side by side and are shown one by one. */
function drawFrames(frames: readonly Frame[], { columns, rows }: Recording): string {
  const width = Math.ceil(columns * CELL_WIDTH) + 2 * MARGIN;
  const height = rows * LINE_HEIGHT + 2 * MARGIN;
  const ids = new Map<string, string>();
  const definitions: string[] = [];
  const uses = frames.map(({ lines }, frame) => {
    const drawn = lines.map((line, row) => {
      if (line.length === 0) return '';
      const text = drawLine(line);
      let id = ids.get(text);
      if (id === undefined) {
        id = `l${ids.size}`;
        ids.set(text, id);
        definitions.push(`<text id="${id}">${text}</text>`);
      }
      return `<use href="#${id}" x="${MARGIN}" y="${MARGIN + (row + 0.75) * LINE_HEIGHT}"/>`;
    });
    return `<g transform="translate(${frame * width} 0)">${drawn.join('')}</g>`;
  });
  const totalMs = frames.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}">
<title>A job in a terminal</title>
<style>
text{fill:#d5d9e0;font:14px ui-monospace,'SF Mono',Menlo,Consolas,'Liberation Mono',monospace;white-space:pre}
.b{font-weight:700}.d{opacity:.6}${colors.map((color, index) => `.c${index}{fill:${color}}`).join('')}
#film{animation:play ${(totalMs / 1_000).toFixed(2)}s step-end infinite}
@keyframes play{${keyframesOf(frames, width, totalMs)}}
@media (prefers-reduced-motion:reduce){#film{animation:none;transform:translateX(${-(frames.length - 1) * width}px)}}
</style>
<defs>${definitions.join('')}</defs>
<rect width="${width}" height="${height}" rx="10" fill="#14171b"/>
<g id="film">${uses.join('\n')}</g>
</svg>
`;
}

function keyframesOf(frames: readonly Frame[], width: number, totalMs: number): string {
  let atMs = 0;
  return frames
    .map(({ durationMs }, frame) => {
      const percent = ((atMs / totalMs) * 100).toFixed(3);
      atMs += durationMs;
      return `${percent}%{transform:translateX(${-frame * width}px)}`;
    })
    .join('');
}

function drawLine(spans: readonly Span[]): string {
  let column = 0;
  return spans
    .map(({ text, style }) => {
      const x = (column * CELL_WIDTH).toFixed(1);
      column += text.length;
      if (text.trim() === '') return '';
      const length = (text.length * CELL_WIDTH).toFixed(1);
      const mark = style === '' ? '' : ` class="${style}"`;
      return `<tspan x="${x}" textLength="${length}"${mark}>${escapeXml(text)}</tspan>`;
    })
    .join('');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
