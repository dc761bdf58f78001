import type { Uncertainty } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { asTyped } from '../command-name.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { chooseQuestionId, findQuestionId } from '../find/question-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import type { HubSession } from '../hub/hub-session.ts';
import { formatMoment } from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { collectPages } from '../terminal/pages.ts';
import { askChoice, askText } from '../terminal/prompts.ts';
import { readText } from '../terminal/stdin-text.ts';
import { oneLine, truncateText } from '../terminal/text.ts';
import { shortId } from '../words/job-text.ts';
import { type Choice, choicesOf, printQuestion } from '../words/question-text.ts';

interface Options {
  option?: string;
  text?: string;
  dismiss?: true;
  replace?: true;
  alike?: true;
}

interface Answer {
  mode: 'answered' | 'dismissed';
  value: string;
}

/**
 * `signalbox answer [ID]`: answers a question, with `--alike` all open ones that are like it; on a
 * terminal it shows the question and its options, and without an ID lets the person choose an open
 * one. The first answer wins: the second person sees who answered, and the exit code is 4. With
 * `--json`: the hub's answer `{ok, resolutionId, uncertainty}`; if others are `--alike`, `{ok,
 * results}`, one result `{uncertaintyId, result, resolutionId, error, message}` for each.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    program
      .argument('[id]', 'a question, by its ID or the end of it (default: choose an open one)')
      .option('--option <option>', 'choose an option, by its value or its label')
      .option('--text <text>', 'answer in your own words; - reads them from standard input')
      .option('--dismiss', 'let the job continue without an answer')
      .option('--alike', 'give the answer to all open questions that are like it')
      .option('--replace', 'replace the answer that the question has');
  },

  examples: [
    ['signalbox answer', 'choose an open question, and answer it'],
    ['signalbox answer 5b0e9f77', 'read the question and choose'],
    ['signalbox answer 5b0e9f77 --option yes', 'without a dialog'],
    ['signalbox answer 5b0e9f77 --alike --option yes', 'all of its row in the inbox'],
    ['signalbox answer 5b0e9f77 --text "Use port 8080"', 'in your own words'],
  ],

  check: refuseUnclear,

  async run({ io, args, options, session, client, workspaceId }) {
    const [id] = args;
    const uncertaintyId =
      id === undefined ? await chooseQuestionId(io, session) : await findQuestionId(session, id);
    if (uncertaintyId === null) {
      io.print('No open questions.');
      return undefined;
    }
    const alike = options.alike ? await findAlike(session, uncertaintyId) : [];
    const { mode, value } = await readAnswer(io, session, uncertaintyId, options);
    if (alike.length > 1) return await answerAlike(io, session, alike, { mode, value });
    const answer = await client.uncertainties.addResolution({
      workspaceId,
      uncertaintyId,
      mode,
      value,
      confidence: 1,
      ...(options.replace ? { supersede: true } : {}),
    });
    if (io.json) return io.printJson(answer);
    sayAnswered(io, answer.uncertainty, { mode, value });
  },
});

function refuseUnclear({ option, text, dismiss, alike, replace }: Options): void {
  if (alike && replace) {
    const message = '--alike is about open questions, which have no answer to --replace.';
    throw new CliError(exitCodes.usage, 'USAGE', message);
  }
  const given = [option, text, dismiss].filter((each) => each !== undefined);
  if (given.length < 2) return;
  const message = 'Give only one of --option, --text and --dismiss.';
  throw new CliError(exitCodes.usage, 'USAGE', message);
}

/**
 * The open questions of the row in the inbox that has this one.
 * @throws {CliError} ALREADY_RESOLVED: it is in none.
 */
async function findAlike(
  { client, workspaceId }: HubSession,
  uncertaintyId: string,
): Promise<string[]> {
  const { rows } = await collectPages(Infinity, 'uncertainties', (page) =>
    client.uncertainties.inbox({ workspaceId, ...page }),
  );
  const ids = rows
    .map((row) => [row.uncertaintyId, ...(row.alikeIds ?? [])])
    .find((row) => row.includes(uncertaintyId));
  if (ids !== undefined) return [uncertaintyId, ...ids.filter((id) => id !== uncertaintyId)];
  throw new CliError(exitCodes.refused, 'ALREADY_RESOLVED', 'The question is not open any more.', {
    fix: `See its answer: signalbox answer ${shortId(uncertaintyId)}`,
  });
}

async function answerAlike(
  io: Io,
  { client, workspaceId }: HubSession,
  uncertaintyIds: string[],
  { mode, value }: Answer,
): Promise<ExitCode | undefined> {
  const answer = await client.uncertainties.resolveAlike({
    workspaceId,
    uncertaintyIds,
    mode,
    value,
    confidence: 1,
  });
  const refused = answer.results.filter(({ result }) => result === 'refused');
  const exitCode = refused.length > 0 ? exitCodes.refused : undefined;
  if (io.json) {
    io.printJson(answer);
    return exitCode;
  }
  const given = answer.results.filter(({ result }) => result === 'resolved');
  const what = `${given.length} question${given.length === 1 ? '' : 's'}`;
  const deed = mode === 'dismissed' ? `Dismissed ${what}` : `Answered ${what}: ${oneLine(value)}`;
  io.print(`${io.styles.green('✔')} ${deed}`);
  for (const id of given) io.print(`  ${shortId(id.uncertaintyId)}`);
  for (const { uncertaintyId, message = 'The hub refused.' } of refused) {
    io.note(`${io.errorStyles.red('✖')} ${shortId(uncertaintyId)}  ${oneLine(message)}`);
  }
  return exitCode;
}

async function readAnswer(
  io: Io,
  { client, workspaceId }: HubSession,
  uncertaintyId: string,
  { option, text, dismiss, replace }: Options,
): Promise<Answer> {
  if (dismiss) return { mode: 'dismissed', value: '' };
  if (text !== undefined) {
    return { mode: 'answered', value: checkText(text === '-' ? await readText(io) : text) };
  }
  const { uncertainty: asked, situation } = await client.uncertainties.get({
    workspaceId,
    uncertaintyId,
  });
  const choices = choicesOf(asked);
  if (option !== undefined) {
    return { mode: 'answered', value: findOption(asked, choices, option).value };
  }
  if (!io.isInteractive) {
    const message = `The answer is missing. ${offeredText(choices)}`;
    throw new CliError(exitCodes.usage, 'USAGE', message, {
      fix: 'Add --option VALUE, --text "…" or --dismiss.',
    });
  }
  if (!replace) refuseAnswered(asked);
  printQuestion(io, asked, situation);
  return await askAnswer(io, choices);
}

function checkText(text: string): string {
  const value = text.trim();
  if (value !== '') return value;
  throw new CliError(exitCodes.usage, 'USAGE', 'The answer is empty.', {
    fix: 'To let the job continue without an answer, use --dismiss.',
  });
}

/** By its value; by its label only if no other option has that. */
function findOption(asked: Uncertainty, choices: readonly Choice[], text: string): Choice {
  const byValue = choices.find(({ value }) => value === text);
  if (byValue !== undefined) return byValue;
  const labels = new Map(asked.options.map((each) => [each.value, each.label]));
  const [first, ...others] = choices.filter(({ value }) => labels.get(value) === text);
  if (first !== undefined && others.length === 0) return first;
  const shown = truncateText(oneLine(text), 60);
  const problem = first === undefined ? 'has no option' : 'has several options with the label';
  const message = `The question ${problem} "${shown}". ${offeredText(choices)}`;
  throw new CliError(exitCodes.usage, 'OPTION_NOT_FOUND', message, {
    fix: `Choose another one, or answer in your own words: signalbox answer ${shortId(asked.uncertaintyId)} --text "…"`,
  });
}

const OFFERED_MAX = 10;
const OFFERED_WIDTH = 60;

function offeredText(choices: readonly Choice[]): string {
  if (choices.length === 0) return 'It has no options.';
  const shown = choices
    .slice(0, OFFERED_MAX)
    .map(({ value }) => `"${truncateText(oneLine(value), OFFERED_WIDTH)}"`);
  const more = choices.length > OFFERED_MAX ? `, and ${choices.length - OFFERED_MAX} more` : '';
  return `Its options are ${shown.join(', ')}${more}.`;
}

/** Says it before a person reads and thinks. The hub decides about answers at the same time. */
function refuseAnswered({ resolution, uncertaintyId }: Uncertainty): void {
  if (resolution === null) return;
  const { mode, createdBy, createdAt, value } = resolution;
  const ofHub = mode === 'dismissed' ? 'The end of its job' : 'The deadline';
  const who = createdBy === null ? ofHub : oneLine(createdBy);
  const text = truncateText(oneLine(value), OFFERED_WIDTH);
  const deed = mode === 'dismissed' ? 'dismissed the question' : `answered "${text}"`;
  const message = `${who} ${deed} at ${formatMoment(createdAt)}.`;
  throw new CliError(exitCodes.refused, 'ALREADY_RESOLVED', message, {
    fix: `To replace that answer: signalbox answer ${shortId(uncertaintyId)} --replace`,
  });
}

async function askAnswer(io: Io, choices: readonly Choice[]): Promise<Answer> {
  const write = async () =>
    await askText(io, {
      message: 'Your answer?',
      placeholder: 'In your own words',
      missing: 'The answer is missing.',
    });
  const rows = choices.map(({ label, description, isRecommended, isAssumed }) => ({
    label: label + markOf(isRecommended, isAssumed),
    hint: description,
  }));
  const others = [
    { label: 'Another answer …', hint: 'in your own words' },
    { label: 'Dismiss', hint: 'the job continues without an answer' },
  ];
  const recommended = choices.findIndex(({ isRecommended }) => isRecommended);
  // Without a recommendation, Enter alone must not choose an option.
  const initial = recommended === -1 ? choices.length : recommended;
  const at = await askChoice(io, 'Your answer?', [...rows, ...others], initial);
  const choice = choices[at];
  if (choice !== undefined) return { mode: 'answered', value: choice.value };
  if (at === choices.length) return { mode: 'answered', value: await write() };
  return { mode: 'dismissed', value: '' };
}

function markOf(isRecommended: boolean, isAssumed: boolean): string {
  if (isRecommended) return ' [recommended]';
  return isAssumed ? ' [assumed]' : '';
}

function sayAnswered(io: Io, { jobId }: Uncertainty, { mode, value }: Answer): void {
  const { green, dim } = io.styles;
  const what = mode === 'dismissed' ? 'Dismissed the question.' : `Answered: ${oneLine(value)}`;
  io.print(`${green('✔')} ${what}`);
  if (jobId !== null) io.print(dim(asTyped(`  signalbox job ${shortId(jobId)} --follow`)));
}
