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

/** Defines a command with typed options: `run` receives what `describe` declares. */
export function defineCommand<Options>(module: {
  describe(command: Command): void;
  run(call: Omit<CommandCall, 'options'> & { options: Options }): Promise<ExitCode | undefined>;
}): CommandModule {
  // commander types options as a record; `describe` is next to `run`, so they are easy to compare.
  return module as CommandModule;
}

/** Adds the `--json` option, which every command has. */
export function addJsonOption(command: Command, what = 'print one JSON document'): Command {
  return command.option('--json', what);
}

export type HubOptions = HubChoice & { json?: true };

/** Adds the options of all commands that talk to a hub. */
export function addHubOptions(command: Command): Command {
  return command
    .optionsGroup('Which hub:')
    .option('-w, --workspace <slug>', 'the workspace; SIGNALBOX_WORKSPACE')
    .option('--url <url>', "the hub's address; SIGNALBOX_URL");
}

/** Adds examples to the end of a command's help: the line to type and its meaning. */
export function addExamples(
  command: Command,
  examples: readonly (readonly [line: string, meaning: string])[],
): Command {
  return command.addHelpText('after', (context) => {
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
