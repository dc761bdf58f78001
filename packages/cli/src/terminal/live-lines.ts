import type { Control, Io } from './io.ts';

/** Lines at the end of a terminal that change in place, one for each piece of work. */
export interface LiveLines {
  /** Shows or changes a line, which must fit the terminal. @returns false without a terminal. */
  set(id: string, line: string): boolean;
  remove(id: string): void;
  /** Prints lines that stay, above those that change. */
  above(print: () => void): void;
}

const eraseLinesBelow: Control = { sequence: '\u001b[J' };
const lineFeed: Control = { sequence: '\n' };
const upBy = (lines: number): Control => ({ sequence: `\r\u001b[${lines}A` });

export function createLiveLines({ stdout, env, json, ...io }: Io): LiveLines {
  const isLive = stdout.isTTY === true && !json && !env.CI && env.TERM !== 'dumb';
  const lines = new Map<string, string>();
  let drawn = 0;

  function erase(): void {
    if (drawn > 0) io.draw([upBy(drawn), eraseLinesBelow]);
    drawn = 0;
  }

  function draw(): void {
    if (lines.size > 0) io.draw([...lines.values()].flatMap((line) => [line, lineFeed]));
    drawn = lines.size;
  }

  return {
    set(id, line) {
      if (!isLive) return false;
      erase();
      lines.set(id, line);
      draw();
      return true;
    },
    remove(id) {
      if (!lines.has(id)) return;
      erase();
      lines.delete(id);
      draw();
    },
    above(print) {
      erase();
      print();
      draw();
    },
  };
}
