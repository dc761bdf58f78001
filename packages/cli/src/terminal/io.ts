import { once } from 'node:events';
import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { escapeJson, type LineStyles, safeLine } from './text.ts';

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

/** The part of a stream that a command may know. Only this file writes to one. */
type OutputStream = Pick<WriteStream, 'isTTY' | 'columns' | 'rows' | 'on' | 'off'>;

/** A control sequence of this program. It is an object, so that no text can be one. */
export interface Control {
  readonly sequence: string;
}

/**
 * Input, output and cancellation of a command. Everything that a terminal receives passes here, and
 * text loses its control and invisible characters, so that no command can forget that.
 */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: ReadStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
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
  /** Prints one line to standard output; line breaks in it become spaces. */
  print(line?: string): void;
  /** Prints a line that contains output of a tool, which keeps all its colours. */
  printOutput(line: string): void;
  /** Prints lines: unchanged to a pipe or file, where a program may read them. */
  printText(text: string): void;
  /** Prints a JSON document as one line to standard output. */
  printJson(value: unknown): undefined;
  /** Prints a line for people to standard error. */
  note(line: string): void;
  /** Writes control sequences, and texts that are as safe as a line. */
  draw(parts: readonly (Control | string)[], to?: 'stdout' | 'stderr'): void;
  /** Writes bytes as they are, also to a terminal, at the pace of the reader. */
  writeBytes(bytes: Uint8Array): Promise<void>;
}

/** The part of a process that `createIo` uses. */
export type ProcessStreams = Pick<NodeJS.Process, 'env' | 'stdin' | 'stdout' | 'stderr'>;

export function createIo(
  signal: AbortSignal,
  json: boolean,
  streams: ProcessStreams = process,
): Io {
  const { env, stdin, stdout, stderr } = streams;
  const isColored = wantsColor(env, stdout);
  const write = (line: string, kept: LineStyles) =>
    void stdout.write(`${safeLine(line, isColored ? kept : 'none')}\n`);
  return {
    env,
    stdin,
    stdout,
    stderr,
    signal,
    json,
    isInteractive: Boolean(stdin.isTTY && stdout.isTTY && stderr.isTTY) && !json && !env.CI,
    isColored,
    styles: stylesOf(isColored),
    errorStyles: stylesOf(wantsColor(env, stderr)),
    columns: stdout.isTTY ? Math.max(COLUMNS_MIN, stdout.columns || COLUMNS_DEFAULT) : Infinity,
    print: (line = '') => write(line, 'own'),
    printOutput: (line) => write(line, 'any'),
    printText(text) {
      if (!stdout.isTTY) stdout.write(`${text}\n`);
      else for (const line of text.split(/\r?\n/)) write(line, 'own');
    },
    printJson: (value) => void stdout.write(`${jsonLine(value, stdout)}\n`),
    note: (line) => note(line, streams),
    draw(parts, to = 'stdout') {
      const kept = wantsColor(env, streams[to]) ? 'own' : 'none';
      const texts = parts.map((part) =>
        typeof part === 'string' ? safeLine(part, kept) : part.sequence,
      );
      streams[to].write(texts.join(''));
    },
    async writeBytes(bytes) {
      if (!stdout.write(bytes)) await once(stdout, 'drain', { signal });
    },
  };
}

/** Prints a line for people to standard error. */
export function note(line: string, { env, stderr }: ProcessStreams = process): void {
  stderr.write(`${safeLine(line, wantsColor(env, stderr) ? 'own' : 'none')}\n`);
}

/** Prints a JSON document to standard error. */
export function noteJson(value: unknown): void {
  process.stderr.write(`${jsonLine(value, process.stderr)}\n`);
}

/** JSON allows C1 and invisible characters in strings, which a terminal obeys. */
function jsonLine(value: unknown, { isTTY }: { isTTY?: boolean }): string {
  const json = JSON.stringify(value);
  return isTTY === true ? escapeJson(json) : json;
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
