import { Command, CommanderError, type Help } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { CliError } from './cli-error.ts';
import type { CommandModule } from './command-module.ts';
import { type CommandEntry, commandTable, parentSummaries } from './command-table.ts';
import { type ExitCode, exitCodes, exitMeanings } from './exit-codes.ts';
import { createIo, stylesOf, wantsColor } from './io.ts';

/** The command that a line means, by its leading words; undefined for help and for mistakes. */
export function findCommand(argv: readonly string[]): CommandEntry | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  if (words[0] === 'help') words.shift();
  return commandTable.find((entry) => entry.words.every((word, index) => words[index] === word));
}

/** Whether a line asks for JSON, known before it is parsed: mistakes in it are told in JSON too. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json');
}

/**
 * Runs one line and answers with its exit code.
 * @throws what the command throws; `describeFailure` says what it means.
 */
export async function runLine(argv: readonly string[], signal: AbortSignal): Promise<ExitCode> {
  const meant = findCommand(argv);
  const modules = new Map<CommandEntry, CommandModule>();
  if (meant !== undefined) modules.set(meant, (await meant.load()).command);
  let exitCode: ExitCode = exitCodes.ok;
  const program = buildProgram(modules, async (module, args, options) => {
    const io = createIo(signal, options.json === true);
    exitCode = (await module.run({ io, args, options, loadProgram })) ?? exitCodes.ok;
  });
  if (argv.length === 0) {
    program.outputHelp();
    return exitCode;
  }
  try {
    // `signalbox help jobs` is what people type who know git.
    const line = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
    await program.parseAsync(line, { from: 'user' });
  } catch (error) {
    throw explainMissingWord(error, argv) ?? error;
  }
  return exitCode;
}

/** The program with every command described, none of which will run. */
async function loadProgram(): Promise<Command> {
  const modules = commandTable.map(async (entry) => [entry, (await entry.load()).command] as const);
  return buildProgram(new Map(await Promise.all(modules)));
}

/** The words of a line that name commands, as far as they do. */
export function knownWords(argv: readonly string[]): string[] {
  const words: string[] = [];
  for (const word of argv.filter((text) => !text.startsWith('-'))) {
    const path = [...words, word];
    const isKnown = commandTable.some((entry) =>
      path.every((at, index) => entry.words[index] === at),
    );
    if (!isKnown) break;
    words.push(word);
  }
  return words;
}

/** For `signalbox repo`, which commander answers with the help and no word of what is wrong. */
function explainMissingWord(error: unknown, argv: readonly string[]): CliError | null {
  if (!(error instanceof CommanderError) || error.code !== 'commander.help') return null;
  const words = knownWords(argv);
  const following = commandTable
    .filter((entry) => words.every((word, index) => entry.words[index] === word))
    .map((entry) => entry.words[words.length]);
  const choice = [...new Set(following)].join(', ');
  const message = `signalbox ${words.join(' ')} takes a command after it: ${choice}.`;
  return new CliError(exitCodes.usage, 'USAGE', message);
}

type Act = (
  module: CommandModule,
  args: readonly (string | undefined)[],
  options: Record<string, unknown>,
) => Promise<void>;

/** The tree of commands; only those in `modules` have their options. */
export function buildProgram(
  modules: ReadonlyMap<CommandEntry, CommandModule>,
  act: Act = async () => {},
): Command {
  const program = prepare(new Command('signalbox'))
    .usage('<command> [options]')
    .description(
      'Hands work to coding agents, keeps it from being done twice, shows what happened.',
    )
    .version(manifest.version, '-V, --version', 'print the version')
    .configureHelp({ ...helpManner, visibleCommands: leavesOf, subcommandTerm: pathOf })
    .addHelpText('after', rootHelp());
  for (const entry of commandTable) {
    const command = addPath(program, entry).summary(entry.summary);
    command.description(`${entry.summary[0]?.toUpperCase()}${entry.summary.slice(1)}.`);
    const module = modules.get(entry);
    if (module === undefined) continue;
    module.describe(command);
    command.action(async () => await act(module, command.processedArgs, command.opts()));
  }
  return program;
}

/** Makes the command of an entry, and those above it where they are missing. */
function addPath(program: Command, entry: CommandEntry): Command {
  let parent = program;
  for (const [index, word] of entry.words.entries()) {
    const isLast = index === entry.words.length - 1;
    const path = entry.words.slice(0, index + 1).join(' ');
    let command = parent.commands.find((known) => known.name() === word);
    if (command === undefined) {
      command = prepare(parent.command(word));
      command.helpGroup(entry.group);
      if (!isLast) {
        command.description(parentSummaries[path] ?? '').usage('<command>');
        // What is missing is a word; an option before it is no mistake worth telling first.
        command.allowUnknownOption();
      }
    }
    parent = command;
  }
  return parent;
}

/** Long flags leave little room on 80 columns; it is used all the same. */
const helpManner: Partial<Help> = { minWidthToWrap: 24 };

/** The help at the top shows what can be typed, not the words on the way there. */
function leavesOf(command: Command): Command[] {
  const { commands } = command;
  return commands.flatMap((child) => (child.commands.length > 0 ? leavesOf(child) : [child]));
}

function pathOf(command: Command): string {
  const parent = command.parent?.parent ? `${pathOf(command.parent)} ` : '';
  return parent + command.name();
}

function prepare(command: Command): Command {
  const { env, stdout, stderr } = process;
  const { bold } = stylesOf(wantsColor(env, stdout));
  return command
    .exitOverride()
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .configureHelp({ ...helpManner, styleTitle: bold })
    .configureOutput({
      // Mistakes are told in one place, in the manner of all errors.
      writeErr: () => {},
      getOutHasColors: () => wantsColor(env, stdout),
      getErrHasColors: () => wantsColor(env, stderr),
    });
}

function rootHelp(): string {
  const codes = exitMeanings.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`);
  return `
Environment (goes before what login has stored):
  SIGNALBOX_URL, SIGNALBOX_TOKEN, SIGNALBOX_WORKSPACE   the hub, for CI
  SIGNALBOX_CONFIG_DIR, SIGNALBOX_STATE_DIR             where logins and agents are kept
  NO_COLOR, FORCE_COLOR                                 colours off, on

Exit codes:
${codes.join('\n')}

Every command takes --json: JSON on standard output, errors as JSON on standard error.
Start with:  signalbox login --workspace SLUG   then   signalbox repo link   and   signalbox agent start`;
}
