import type { Command } from 'commander';
import type { ExitCode } from './exit-codes.ts';
import type { HubChoice } from './hub-session.ts';
import type { Io } from './io.ts';

/** One command, in a file of its own under `commands/`. */
export interface CommandModule {
  /** Adds arguments, options and examples. */
  describe(command: Command): void;
  /** Does it; undefined means exit code 0. */
  run(call: CommandCall): Promise<ExitCode | undefined>;
}

export interface CommandCall {
  io: Io;
  /** Arguments in order; undefined where an optional one is not given. */
  args: readonly (string | undefined)[];
  options: Record<string, unknown>;
  /** The whole command line with all its commands, for what describes it. */
  loadProgram(): Promise<Command>;
}

/** A module whose options are known by type: what `describe` declares, `run` receives. */
export function defineCommand<Options>(module: {
  describe(command: Command): void;
  run(call: Omit<CommandCall, 'options'> & { options: Options }): Promise<ExitCode | undefined>;
}): CommandModule {
  // commander types options as a record; `describe` stands beside `run` to be compared with it.
  return module as CommandModule;
}

/** Every command has it. */
export function addJsonOption(command: Command, what = 'print one JSON document'): Command {
  return command.option('--json', what);
}

export type HubOptions = HubChoice & { json?: true };

/** What every command has that talks to a hub. */
export function addHubOptions(command: Command): Command {
  return command
    .optionsGroup('Which hub:')
    .option('-w, --workspace <slug>', 'the workspace; SIGNALBOX_WORKSPACE')
    .option('--url <url>', "the hub's address; SIGNALBOX_URL");
}

/** Examples at the end of a command's help: what to type, and what it does. */
export function addExamples(
  command: Command,
  examples: readonly (readonly [line: string, meaning: string])[],
): Command {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, meaning]) => `  ${line.padEnd(width)}   ${meaning}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
