import { readFile } from 'node:fs/promises';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { CliError } from '../../../cli-error.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { nearestOf } from '../../../find/nearest.ts';
import { oneLine, truncateText } from '../../../terminal/text.ts';

/** A value, and where it comes from: `file:line`, a flag, or a default. */
export interface Sourced<T> {
  value: T;
  from: string;
}

/** Reads the value of one key. */
export interface Setting<T> {
  read(node: Node | null, place: Place): T;
}

/** The values of a map that a file contains. */
export type Settings<Keys extends Readonly<Record<string, Setting<unknown>>>> = {
  [Name in keyof Keys]?: Sourced<ReturnType<Keys[Name]['read']>>;
};

const FILE_BYTES_MAX = 256 * 1024;
const SHOWN_WIDTH = 40;

/** A value of the file cannot be used. The reader reports it and reads the next key. */
class Mistake extends Error {
  override name = 'Mistake';
}

/** A place in a file, for messages: every mistake is one sentence with file, line and key. */
export class Place {
  readonly file: string;
  /** The key with the keys above it, such as `share.approvals`; '' for the file as a whole. */
  readonly key: string;
  readonly #lines: LineCounter;
  readonly #mistakes: string[];

  constructor(file: string, lines: LineCounter, mistakes: string[], key = '') {
    this.file = file;
    this.key = key;
    this.#lines = lines;
    this.#mistakes = mistakes;
  }

  at(name: string): Place {
    const key = this.key === '' || name.startsWith('[') ? this.key + name : `${this.key}.${name}`;
    return new Place(this.file, this.#lines, this.#mistakes, key);
  }

  /** `file:line` of a node. */
  of(node: Node | null): string {
    return `${this.file}:${node?.range ? this.#lines.linePos(node.range[0]).line : 1}`;
  }

  report(node: Node | null, sentence: string): void {
    this.#mistakes.push(`${this.of(node)}: ${sentence}`);
  }

  /** @param from of a value that was read before. */
  reportAt(from: string, sentence: string): void {
    this.#mistakes.push(`${from}: ${sentence}`);
  }

  /** @throws {Mistake} */
  refuse(node: Node | null, allowed: string): never {
    throw new Mistake(`${this.key || 'The file'} must be ${allowed}, not ${describe(node)}.`);
  }

  /** Reads a node; undefined, and a reported mistake, if it cannot be used. */
  read<T>(node: Node | null, setting: Setting<T>): Sourced<T> | undefined {
    try {
      return { value: setting.read(node, this), from: this.of(node) };
    } catch (error) {
      if (!(error instanceof Mistake)) throw error;
      this.report(node, error.message);
      return undefined;
    }
  }
}

/** A map whose keys are known. Unknown ones are refused, with the nearest known one. */
export function mapOf<const Keys extends Readonly<Record<string, Setting<unknown>>>>(
  keys: Keys,
  belongsElsewhere: Readonly<Record<string, string>> = {},
  check: (values: Settings<Keys>, place: Place, node: YAMLMap) => void = () => {},
): Setting<Settings<Keys>> & { keys: Keys } {
  return {
    keys,
    read(node, place) {
      if (!isMap(node)) return place.refuse(node, 'keys with values');
      const entries: [string, unknown][] = [];
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value) : '';
        const setting = Object.hasOwn(keys, name) ? keys[name] : undefined;
        if (setting === undefined) {
          const where = belongsElsewhere[name];
          place.report(key as Node, unknownKey(place.at(name).key, name, Object.keys(keys), where));
          continue;
        }
        const read = place.at(name).read((value ?? null) as Node | null, setting);
        // A key without a value has no node of its own.
        if (read !== undefined) entries.push([name, { ...read, from: place.of(key as Node) }]);
      }
      // The entries have the names of `keys`, and what their settings have read.
      const values = Object.fromEntries(entries) as Settings<Keys>;
      check(values, place, node);
      return values;
    },
  };
}

function unknownKey(path: string, name: string, known: string[], where?: string): string {
  if (where !== undefined) return `${path} is not a key here: it belongs ${where}.`;
  const near = nearestOf(name, known);
  const hint = near === null ? `the keys here are ${known.join(', ')}` : `did you mean ${near}?`;
  return `${oneLine(path)} is not a known key; ${hint}${near === null ? '.' : ''}`;
}

/** A list of values of one kind. */
export function listOf<T>(setting: Setting<T>): Setting<Sourced<T>[]> {
  return {
    read(node, place) {
      if (!isSeq(node)) return place.refuse(node, 'a list');
      return node.items.flatMap((item, index) => {
        const read = place.at(`[${index}]`).read(item as Node | null, setting);
        return read === undefined ? [] : [read];
      });
    },
  };
}

/** A map from names to texts, such as labels. */
export function textsByName(
  checkName: (name: string) => string | null = () => null,
): Setting<Readonly<Record<string, Sourced<string>>>> {
  return {
    read(node, place) {
      if (!isMap(node)) return place.refuse(node, 'names with values');
      const texts: Record<string, Sourced<string>> = {};
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value) : '';
        const wrong = checkName(name);
        if (wrong !== null) place.at(name).report(key as Node, `${place.at(name).key} ${wrong}.`);
        const text = place.at(name).read(value as Node | null, anyText);
        if (text !== undefined) texts[name] = text;
      }
      return texts;
    },
  };
}

/** One value. `parse` returns undefined for a text that is not allowed. */
export function scalar<T>(allowed: string, parse: (text: string) => T | undefined): Setting<T> {
  return {
    read(node, place) {
      const value = isScalar(node) && node.value !== null ? parse(textOf(node)) : undefined;
      return value === undefined ? place.refuse(node, allowed) : value;
    },
  };
}

/** Numbers and switches are texts as they are written: `gpu: yes`, `port: 8080`. */
const anyText: Setting<string> = {
  read(node, place) {
    if (!isScalar(node) || node.value === null) return place.refuse(node, 'a text');
    return textOf(node);
  },
};

function textOf(node: { value: unknown; source?: string }): string {
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
}

function describe(node: Node | null): string {
  if (isMap(node)) return 'keys with values';
  if (isSeq(node)) return 'a list';
  if (isAlias(node)) return 'an alias';
  if (!isScalar(node) || node.value === null) return 'empty';
  return `"${truncateText(oneLine(textOf(node)), SHOWN_WIDTH)}"`;
}

/**
 * Reads a YAML file by the description of its keys.
 * @throws {CliError} CONFIG_INVALID with every mistake, CONFIG_UNREADABLE.
 */
export async function readSettingsFile<T>(file: string, setting: Setting<T>): Promise<T> {
  return parseSettings(await readBounded(file), file, setting);
}

/** @throws {CliError} CONFIG_INVALID with every mistake. */
export function parseSettings<T>(text: string, file: string, setting: Setting<T>): T {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const mistakes = document.errors.map(({ pos, message }) => {
    const [first] = message.split('\n');
    return `${file}:${lineCounter.linePos(pos[0]).line}: ${first?.replace(/[.:]?$/, '.')}`;
  });
  if (mistakes.length > 0) throw invalid(mistakes);
  const place = new Place(file, lineCounter, mistakes);
  const isEmpty = document.contents === null || isEmptyScalar(document.contents);
  const root = isEmpty ? parseDocument('{}').contents : document.contents;
  const read = place.read(root, setting);
  if (mistakes.length > 0 || read === undefined) throw invalid(mistakes);
  return read.value;
}

function isEmptyScalar(node: Node): boolean {
  return isScalar(node) && node.value === null;
}

function invalid(mistakes: readonly string[]): CliError {
  return new CliError(exitCodes.usage, 'CONFIG_INVALID', mistakes.join('\n  '));
}

async function readBounded(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : error;
    const message = `${file} ${reason === 'does not exist' ? reason : `cannot be read (${reason})`}.`;
    throw new CliError(exitCodes.usage, 'CONFIG_UNREADABLE', message, { cause: error });
  }
  if (bytes.length <= FILE_BYTES_MAX) return bytes.toString('utf8');
  const message = `${file} has ${bytes.length} bytes; the limit is ${FILE_BYTES_MAX}.`;
  throw new CliError(exitCodes.usage, 'CONFIG_UNREADABLE', message);
}
