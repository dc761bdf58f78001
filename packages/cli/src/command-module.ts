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
  return command.addHelpText('after', () => {
    const typed = examples.map(([line, meaning]) => [asTyped(line), meaning] as const);
    const width = Math.max(...typed.map(([line]) => line.length));
    const lines = typed.map(([line, meaning]) => `  ${line.padEnd(width)}   ${meaning}`);
    return `\nExamples:\n${lines.join('\n')}`;
  });
}
