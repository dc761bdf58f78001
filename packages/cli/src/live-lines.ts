import type { Io } from './io.ts';

/** Lines at the end of a terminal that change in place, one for each piece of work. */
export interface LiveLines {
  /** Shows or changes a line, which must fit the terminal. @returns false without a terminal. */
  set(id: string, line: string): boolean;
  remove(id: string): void;
  /** Prints lines that stay, above those that change. */
  above(print: () => void): void;
}

const eraseLinesBelow = '\u001b[J';
const upBy = (lines: number) => `\r\u001b[${lines}A`;

export function createLiveLines({ stdout, env, json }: Io): LiveLines {
  const isLive = stdout.isTTY === true && !json && !env.CI && env.TERM !== 'dumb';
  const lines = new Map<string, string>();
  let drawn = 0;

  function erase(): void {
    if (drawn > 0) stdout.write(upBy(drawn) + eraseLinesBelow);
    drawn = 0;
  }

  function draw(): void {
    if (lines.size > 0) stdout.write([...lines.values(), ''].join('\n'));
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
