import { VERSION } from '@signalbox/contract/version';
import { Command, CommanderError, Help, type Option } from 'commander';
import { CliError } from './cli-error.ts';
import { type CommandModule, formatPairs, widthOf, wrapWords } from './command-module.ts';
import { asTyped, nameInHints } from './command-name.ts';
import {
  type CommandEntry,
  commandTable,
  dailyCommands,
  parentSummaries,
} from './command-table.ts';
import { type ExitCode, exitCodes, exitMeanings } from './exit-codes.ts';
import { newCommandOf, newFlagOf } from './old-names.ts';
import { createIo, stylesOf, wantsColor } from './terminal/io.ts';

/**
 * Finds the command by a line's leading words; undefined for help and for unknown commands. The
 * longest one is meant: `job cancel` rather than `job`.
 */
export function findCommand(argv: readonly string[]): CommandEntry | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  if (words[0] === 'help') words.shift();
  return commandTable
    .filter((entry) => entry.words.every((word, index) => words[index] === word))
    .toSorted((one, other) => other.words.length - one.words.length)[0];
}

/** Whether a line requests JSON. Checked before parsing, so that usage errors are JSON too. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json');
}

/**
 * Runs one line and returns its exit code.
 * @throws the errors of the command; `describeFailure` maps them.
 */
export async function runLine(argv: readonly string[], signal: AbortSignal): Promise<ExitCode> {
  refuseOldCommand(argv);
  const meant = findCommand(argv);
  const modules = new Map<CommandEntry, CommandModule>();
  if (meant !== undefined) modules.set(meant, (await meant.load()).command);
  let exitCode: ExitCode = exitCodes.ok;
  const isFull = argv.length === 2 && argv[0] === 'help' && argv[1] === '--all';
  const program = buildProgram(
    modules,
    async (module, args, options) => {
      const io = createIo(signal, options.json === true);
      exitCode = (await module.run({ io, args, options, loadProgram })) ?? exitCodes.ok;
    },
    isFull,
  );
  if (argv.length === 0 || isFull) {
    program.outputHelp();
    return exitCode;
  }
  try {
    // `signalbox help jobs` works as in git.
    const line = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
    await program.parseAsync(line, { from: 'user' });
  } catch (error) {
    throw explainMissingWord(error, argv) ?? explainOldFlag(error, argv) ?? error;
  }
  return exitCode;
}

/** @throws {CliError} RENAMED */
function refuseOldCommand(argv: readonly string[]): void {
  const renamed = newCommandOf(argv[0] === 'help' ? argv.slice(1) : argv);
  if (renamed === null) return;
  const message = `signalbox ${renamed.before} has a new name.`;
  const fix = `signalbox ${renamed.after}`;
  throw new CliError(exitCodes.usage, 'RENAMED', message, { fix });
}

function explainOldFlag(error: unknown, argv: readonly string[]): CliError | null {
  if (!(error instanceof CommanderError) || error.code !== 'commander.unknownOption') return null;
  const [, flag = ''] = /'(--[\w-]+)/.exec(error.message) ?? [];
  const words = knownWords(argv);
  const now = newFlagOf(words, flag);
  if (now === null) return null;
  const message = `signalbox ${words.join(' ')} has no ${flag} any more.`;
  return new CliError(exitCodes.usage, 'RENAMED', message, { fix: `Use ${now}.` });
}

/** The help of a command, as `signalbox WORDS --help` prints it without a terminal. */
export async function helpOf(words: readonly string[]): Promise<string> {
  nameInHints('signalbox');
  const path = words.reduce(
    (parent, word) => parent?.commands.find((command) => command.name() === word),
    (await loadProgram()) as Command | undefined,
  );
  if (path === undefined) throw new Error(`signalbox ${words.join(' ')} is no command`);
  let text = '';
  path.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 80,
  });
  path.outputHelp();
  return text;
}

/** Builds the program with every command described but without actions. */
async function loadProgram(): Promise<Command> {
  const modules = commandTable.map(async (entry) => [entry, (await entry.load()).command] as const);
  return buildProgram(new Map(await Promise.all(modules)));
}

/** The longest sequence of a line's words that begins a command. */
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

/** Explains `signalbox repo`, for which commander prints only the help without an error. */
function explainMissingWord(error: unknown, argv: readonly string[]): CliError | null {
  if (!(error instanceof CommanderError) || error.code !== 'commander.help') return null;
  const words = knownWords(argv);
  const following = commandTable
    .filter((entry) => words.every((word, index) => entry.words[index] === word))
    .map((entry) => entry.words[words.length]);
  const choice = [...new Set(following)].join(', ');
  const message = `signalbox ${words.join(' ')} requires a subcommand: ${choice}.`;
  return new CliError(exitCodes.usage, 'USAGE', message);
}

type Act = (
  module: CommandModule,
  args: readonly (string | undefined)[],
  options: Record<string, unknown>,
) => Promise<void>;

/** Builds the tree of commands; only those in `modules` get their options. */
export function buildProgram(
  modules: ReadonlyMap<CommandEntry, CommandModule>,
  act: Act = async () => {},
  isFull = false,
): Command {
  const program = prepare(new Command('signalbox'))
    .usage('<command> [options]')
    .description('Distributes jobs to coding agents, runs each job once, and shows what happened.')
    .version(VERSION, '-V, --version', 'print the version')
    .configureHelp({
      ...helpFormat,
      visibleCommands: isFull ? leavesOf : dailyOf,
      subcommandTerm: pathOf,
      ...(isFull ? {} : { visibleOptions: () => [], groupItems: ungrouped }),
    })
    .addHelpText('after', isFull ? fullHelp : shortHelp);
  for (const entry of commandTable) {
    const command = addPath(program, entry).summary(entry.summary);
    command.description(`${entry.summary[0]?.toUpperCase()}${entry.summary.slice(1)}.`);
    const module = modules.get(entry);
    if (module === undefined) continue;
    module.describe(command);
    // A repeatable argument is a list; the commands get all arguments in one.
    command.action(async () => await act(module, command.processedArgs.flat(), command.opts()));
  }
  return program;
}

/** Adds the command of an entry, with its parents where they are missing. */
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
        // Report the missing subcommand rather than an unknown option before it.
        command.allowUnknownOption();
      }
    }
    parent = command;
  }
  return parent;
}

/** Long flags leave only a narrow column for descriptions on 80 columns; wrap within it anyway. */
const DESCRIPTION_WIDTH_MIN = 24;
const DESCRIPTION_MARGIN = 6;
const helpFormat: Partial<Help> = {
  minWidthToWrap: DESCRIPTION_WIDTH_MIN,
  formatItem(term, termWidth, description, helper) {
    const width = helper.helpWidth ?? 80;
    const item = Help.prototype.formatItem.call(this, term, termWidth, description, helper);
    const longest = Math.max(...description.split(/\s+/).map(({ length }) => length));
    const needed = Math.max(DESCRIPTION_WIDTH_MIN, longest);
    if (width - termWidth - DESCRIPTION_MARGIN >= needed || !description) return item;
    // On a narrow terminal the description is below its term, where it can be wrapped at words.
    const lines = helper.boxWrap(description, width - DESCRIPTION_MARGIN).split('\n');
    const margin = ' '.repeat(DESCRIPTION_MARGIN);
    return [`  ${term}`, ...lines.map((line) => margin + line)].join('\n');
  },
};

/** The first help: what a person needs every day, in the order of a first day. */
function dailyOf(command: Command): Command[] {
  const leaves = leavesOf(command);
  return dailyCommands.flatMap((words) => leaves.find((leaf) => pathOf(leaf) === words) ?? []);
}

function ungrouped<T extends Command | Option>(_all: T[], visible: T[]): Map<string, T[]> {
  return new Map([['Every day:', visible]]);
}

/** The complete help lists complete commands instead of parents that only group others. */
function leavesOf(command: Command): Command[] {
  return command.commands.flatMap((child) => {
    const isEntry = commandTable.some(({ words }) => words.join(' ') === pathOf(child));
    return isEntry ? [child, ...leavesOf(child)] : leavesOf(child);
  });
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
    .configureHelp({ ...helpFormat, styleTitle: bold })
    .configureOutput({
      // Errors are printed in one place, in one format.
      writeErr: () => {},
      getOutHasColors: () => wantsColor(env, stdout),
      getErrHasColors: () => wantsColor(env, stderr),
    });
}

function shortHelp({ command }: { command: Command }): string {
  const more = [
    [asTyped('signalbox help --all'), 'all commands, environment, exit codes'],
    [asTyped('signalbox help COMMAND'), 'one command and its options'],
  ] as const;
  return `\n${formatPairs(more, widthOf(command))}`;
}

function fullHelp({ command }: { command: Command }): string {
  const columns = widthOf(command);
  const codes = exitMeanings.map(([code, meaning]) => [String(code).padStart(3), meaning] as const);
  return [
    '\nEnvironment (takes precedence over stored logins):',
    formatPairs(environmentWords, columns),
    '\nExit codes:',
    formatPairs(codes, columns),
    '',
    wrapWords(
      'Every command takes --json: JSON on standard output, errors as JSON on standard error.',
      columns,
    ),
  ].join('\n');
}

const environmentWords = [
  ['SIGNALBOX_URL', 'the hub'],
  ['SIGNALBOX_TOKEN', 'a token'],
  ['SIGNALBOX_TOKEN_FILE', 'a file that holds the token'],
  ['SIGNALBOX_WORKSPACE', 'the workspace'],
  ['SIGNALBOX_CONFIG_DIR', 'directory of logins'],
  ['SIGNALBOX_STATE_DIR', 'directory of agents'],
  ['NO_COLOR, FORCE_COLOR', 'colours off, on'],
] as const;
