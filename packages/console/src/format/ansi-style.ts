/** 0–15 is a theme colour; a string is an exact colour `#rrggbb` from the output. */
export type AnsiColor = number | string;

/** Select Graphic Rendition, as far as a page can show it. Values are immutable. */
export interface AnsiStyle {
  readonly fg: AnsiColor | null;
  readonly bg: AnsiColor | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly strike: boolean;
}

export const plainStyle: AnsiStyle = {
  fg: null,
  bg: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  strike: false,
};

/** Limit of a sequence's parameters; no real program sends more. */
const PARAMS_CHARS_MAX = 256;

const switches: Readonly<Record<number, Partial<AnsiStyle>>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { fg: null },
  49: { bg: null },
};

export function sameStyle(a: AnsiStyle, b: AnsiStyle): boolean {
  return (
    a === b ||
    (a.fg === b.fg &&
      a.bg === b.bg &&
      a.bold === b.bold &&
      a.dim === b.dim &&
      a.italic === b.italic &&
      a.underline === b.underline &&
      a.inverse === b.inverse &&
      a.strike === b.strike)
  );
}

/** Applies `ESC [ params m` to a style. Unsupported parameters are ignored. */
export function applySgr(style: AnsiStyle, params: string): AnsiStyle {
  const codes = params.slice(0, PARAMS_CHARS_MAX).split(/[;:]/).map(Number);
  let result = style;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    if (code === 38 || code === 48) {
      const { color, used } = extendedColor(codes.slice(i + 1));
      i += used;
      if (color !== null) result = { ...result, [code === 38 ? 'fg' : 'bg']: color };
    } else {
      result = applyCode(result, code);
    }
  }
  return result;
}

function applyCode(style: AnsiStyle, code: number): AnsiStyle {
  if (code === 0) return plainStyle;
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  const change = switches[code];
  return change ? { ...style, ...change } : style;
}

/** Parses the codes after 38 or 48: `5;n` (palette) or `2;r;g;b`. `used` is their number. */
function extendedColor(codes: number[]): { color: AnsiColor | null; used: number } {
  if (codes[0] === 5) return { color: paletteColor(codes[1]), used: 2 };
  if (codes[0] === 2) return { color: hexColor(codes.slice(1, 4)), used: 4 };
  return { color: null, used: codes.length };
}

function paletteColor(index: number | undefined): AnsiColor | null {
  if (index === undefined || !Number.isInteger(index) || index < 0 || index > 255) return null;
  if (index < 16) return index;
  if (index >= 232) {
    const gray = 8 + (index - 232) * 10;
    return hexColor([gray, gray, gray]);
  }
  const cube = index - 16;
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  return hexColor([level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)]);
}

function hexColor(channels: number[]): string | null {
  if (channels.length !== 3) return null;
  if (!channels.every((value) => Number.isInteger(value) && value >= 0 && value <= 255))
    return null;
  return `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
