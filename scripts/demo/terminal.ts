// The output of a demo: steps with their times, and lines of commands within the terminal.
import { styleText } from 'node:util';

export interface Terminal {
  say(line: string): void;
  /** Prints a line of a command, which wrote it to a pipe, at words within the width. */
  sayOutput(line: string): void;
  sayHeading(text: string): void;
  /** Prints the title of a step, then how long it took. */
  step<T>(title: string, act: () => Promise<T>): Promise<T>;
}

export function createTerminal(out: {
  write(text: string): unknown;
  columns?: number | undefined;
}): Terminal {
  const say = (line: string) => void out.write(`${line}\n`);
  return {
    say,
    sayOutput(line) {
      // A terminal that does not know its width says 0.
      const width = (out.columns || Number.POSITIVE_INFINITY) - 2;
      let rest = line;
      while (rest.length > width) {
        const space = rest.lastIndexOf(' ', width);
        // A word as long as the line, such as a path, stays whole.
        if (space < 0 || rest.slice(0, space).trim() === '') break;
        say(`  ${rest.slice(0, space)}`);
        rest = `    ${rest.slice(space + 1)}`;
      }
      say(rest === '' ? '' : `  ${rest}`);
    },
    sayHeading: (text) => say(`\n${styleText('bold', text)}`),
    async step(title, act) {
      const beganMs = performance.now();
      say(`${styleText('cyan', '▸')} ${title} …`);
      const result = await act();
      say(`${styleText('green', '✔')} ${title} ${styleText('dim', secondsSince(beganMs))}`);
      return result;
    },
  };
}

export function secondsSince(beganMs: number): string {
  return secondsOf(performance.now() - beganMs);
}

export function secondsOf(durationMs: number): string {
  return `${(durationMs / 1_000).toFixed(1)} s`;
}
