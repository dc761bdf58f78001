import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';

type StyleName = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan' | 'magenta';
/** Colours, or the text as it is where none are wanted. */
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

/** Lines are made for this width where there is no terminal to ask. */
const COLUMNS_DEFAULT = 100;
const COLUMNS_MIN = 40;

/** What a command reads from, writes to and is stopped by. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  /** Standard output is JSON and nothing else. */
  readonly json: boolean;
  /** A person is there to be asked. */
  readonly isInteractive: boolean;
  /** Of standard output and standard error. */
  readonly styles: Styles;
  readonly errorStyles: Styles;
  /** Width of standard output; Infinity where nothing is to be cut (a pipe). */
  readonly columns: number;
  /** Aborts at SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** A line on standard output. */
  print(line?: string): void;
  /** A JSON document, or one of several lines, on standard output. */
  printJson(value: unknown): undefined;
  /** A line on standard error, for people. */
  note(line: string): void;
}

export function createIo(signal: AbortSignal, json: boolean): Io {
  const { env, stdin, stdout, stderr } = process;
  return {
    ...{ env, stdin, stdout, stderr, signal, json },
    isInteractive: Boolean(stdin.isTTY && stdout.isTTY && stderr.isTTY) && !json && !env.CI,
    styles: stylesOf(wantsColor(env, stdout)),
    errorStyles: stylesOf(wantsColor(env, stderr)),
    columns: stdout.isTTY ? Math.max(COLUMNS_MIN, stdout.columns || COLUMNS_DEFAULT) : Infinity,
    print: (line = '') => void stdout.write(`${line}\n`),
    printJson(value) {
      stdout.write(`${JSON.stringify(value)}\n`);
    },
    note: (line) => void stderr.write(`${line}\n`),
  };
}

/** FORCE_COLOR goes before NO_COLOR (no-color.org), and both before what the stream is. */
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
  // One entry for each name of the list that the type is made from.
  return Object.fromEntries(entries) as Styles;
}
