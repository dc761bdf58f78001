import type { Command } from 'commander';
import { asTyped } from './command-name.ts';
import type { ExitCode } from './exit-codes.ts';
import type { HubChoice } from './hub/hub-session.ts';
import type { Io } from './terminal/io.ts';

/** One command. Each has its own file under `commands/`. */
export interface CommandModule {
  /** Adds arguments, options and examples. */
  describe(command: Command): void;
  /** Runs the command; undefined means exit code 0. */
  run(call: CommandCall): Promise<ExitCode | undefined>;
}

export interface CommandCall {
  io: Io;
  /** Arguments in order; undefined where an optional one is not given. */
  args: readonly (string | undefined)[];
  options: Record<string, unknown>;
  /** Loads the complete program with all commands, for commands that describe it. */
  loadProgram(): Promise<Command>;
}

/** A line to type, and its meaning. */
export type Example = readonly [line: string, meaning: string];

/** The parts of a command, in the order of its help. */
export interface CommandParts {
  /** Adds arguments and options. */
  describe?(command: Command): void;
  /** The meaning of `--json`, unless it prints one document; null: the command lacks it. */
  json?: string | null;
  /** Adds the options that choose the hub. */
  chooseHub?(command: Command): void;
  examples?: readonly Example[];
  /** Further lines at the end of the help. */
  notes?: string;
}

/** Defines a command with typed options: `run` receives what the parts declare. */
export function defineCommand<Options>(
  parts: CommandParts & {
    run(call: Omit<CommandCall, 'options'> & { options: Options }): Promise<ExitCode | undefined>;
  },
): CommandModule {
  return {
    describe(command) {
      const { json = 'print one JSON document', examples = [], notes } = parts;
      parts.describe?.(command);
      if (json !== null) command.optionsGroup('Options:').option('--json', json);
      parts.chooseHub?.(command);
      if (examples.length > 0) addExamples(command, examples);
      if (notes !== undefined) command.addHelpText('after', `\n${notes}`);
    },
    // commander types options as a record; the parts are next to `run`, which makes them easy to
    // compare.
    run: async (call) => await parts.run(call as typeof call & { options: Options }),
  };
}

export type HubOptions = HubChoice & { json?: true };

/** Adds the options of all commands that talk to a hub. */
export function addHubOptions(command: Command): void {
  command
    .optionsGroup('Which hub:')
    .option('-w, --workspace <slug>', 'the workspace; SIGNALBOX_WORKSPACE')
    .option('--url <url>', "the hub's address; SIGNALBOX_URL");
}

function addExamples(command: Command, examples: readonly Example[]): void {
  command.addHelpText('after', (context) => {
    const typed = examples.map(([line, meaning]) => [asTyped(line), meaning] as const);
    return `\nExamples:\n${formatPairs(typed, widthOf(context.command))}`;
  });
}

const WIDTH_DEFAULT = 80;

/** The width of the help of a command. */
export function widthOf(command: Command): number {
  return command.configureOutput().getOutHelpWidth?.() ?? WIDTH_DEFAULT;
}

/** A narrower column of meanings is hard to read. */
const MEANING_WIDTH_MIN = 24;

/** Lines of a term and its meaning, side by side if there is room, else one below the other. */
export function formatPairs(
  pairs: readonly (readonly [term: string, meaning: string])[],
  columns: number,
): string {
  const termWidth = Math.max(...pairs.map(([term]) => term.length));
  const room = columns - 2 - termWidth - 3;
  const isNarrow = room < MEANING_WIDTH_MIN && pairs.some(([, meaning]) => meaning.length > room);
  return pairs
    .map(([term, meaning]) => {
      if (isNarrow) return `  ${term}\n${wrapWords(meaning, columns, '      ')}`;
      const lead = `  ${term.padEnd(termWidth)}   `;
      return lead + wrapWords(meaning, columns, ' '.repeat(lead.length)).trimStart();
    })
    .join('\n');
}

/** Wraps a text between words. Each line begins with `indent`. */
export function wrapWords(text: string, columns: number, indent = ''): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(indent + word);
  }
  return lines.join('\n');
}
