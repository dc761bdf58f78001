import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';

type StyleName = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan' | 'magenta';
/** Functions that add colour, or return the text unchanged when colours are off. */
export type Styles = Readonly<Record<StyleName, (text: string) => string>>;

const styleNames: readonly StyleName[] = [
  'bold',
  'dim',
  'red',
  'green',
  'yellow',
  'blue',
  'cyan',
  'magenta',
];

/** Width of lines without a terminal. */
const COLUMNS_DEFAULT = 100;
const COLUMNS_MIN = 40;

/** Input, output and cancellation of a command. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  /** Standard output contains JSON only. */
  readonly json: boolean;
  /** A person can answer prompts. */
  readonly isInteractive: boolean;
  /** Whether standard output shows colours. */
  readonly isColored: boolean;
  /** Styles for standard output; `errorStyles` for standard error. */
  readonly styles: Styles;
  readonly errorStyles: Styles;
  /** Width of standard output; Infinity for a pipe, where nothing is truncated. */
  readonly columns: number;
  /** Aborts at SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Prints a line to standard output. */
  print(line?: string): void;
  /** Prints a JSON document as one line to standard output. */
  printJson(value: unknown): undefined;
  /** Prints a line for people to standard error. */
  note(line: string): void;
}

export function createIo(signal: AbortSignal, json: boolean): Io {
  const { env, stdin, stdout, stderr } = process;
  const isColored = wantsColor(env, stdout);
  return {
    ...{ env, stdin, stdout, stderr, signal, json },
    isInteractive: Boolean(stdin.isTTY && stdout.isTTY && stderr.isTTY) && !json && !env.CI,
    isColored,
    styles: stylesOf(isColored),
    errorStyles: stylesOf(wantsColor(env, stderr)),
    columns: stdout.isTTY ? Math.max(COLUMNS_MIN, stdout.columns || COLUMNS_DEFAULT) : Infinity,
    print: (line = '') => void stdout.write(`${line}\n`),
    printJson(value) {
      stdout.write(`${JSON.stringify(value)}\n`);
    },
    note: (line) => void stderr.write(`${line}\n`),
  };
}

/** FORCE_COLOR takes precedence over NO_COLOR (no-color.org), and both over the kind of stream. */
export function wantsColor(env: NodeJS.ProcessEnv, stream: { isTTY?: boolean }): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused, TERM: terminal } = env;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (refused !== undefined && refused !== '') return false;
  return stream.isTTY === true && terminal !== 'dumb';
}

export function stylesOf(isColored: boolean): Styles {
  const entries = styleNames.map((name) => [
    name,
    isColored
      ? (text: string) => styleText(name, text, { validateStream: false })
      : (text: string) => text,
  ]);
  // `entries` has one entry for each name of the list that the type is derived from.
  return Object.fromEntries(entries) as Styles;
}
