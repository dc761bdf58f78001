import type { ListedUncertainty } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { asTyped } from '../command-name.ts';
import { exitCodes } from '../exit-codes.ts';
import type { HubSession } from '../hub/hub-session.ts';
import type { Io } from '../terminal/io.ts';
import { collectPages } from '../terminal/pages.ts';
import { askChoice } from '../terminal/prompts.ts';
import { oneLine, truncateText } from '../terminal/text.ts';
import { shortId } from '../words/job-text.ts';
import { kindWords } from '../words/question-text.ts';
import { findIdByEnding, type IdKind } from './id-reference.ts';

/** Questions to choose from: what a person reads on one screen. */
const CHOICES_MAX = 20;
const TITLE_WIDTH = 60;

const uncertaintyId: IdKind = {
  prefix: 'unc',
  name: 'question',
  code: 'UNCERTAINTY',
  fix: 'List open questions: signalbox inbox',
  fixAmbiguous: (id) => `Give more of the ID, such as: signalbox answer ${id}`,
};

/**
 * Resolves a question to its ID: a full ID, or the end of one as printed by `signalbox inbox`, if
 * it matches exactly one of the latest 1,000 questions.
 * @throws {CliError} UNCERTAINTY_NOT_FOUND, UNCERTAINTY_AMBIGUOUS.
 */
export async function findQuestionId(
  { client, workspaceId }: HubSession,
  text: string,
): Promise<string> {
  return await findIdByEnding(uncertaintyId, text, async (idsMax) => {
    const { rows } = await collectPages(idsMax, 'uncertainties', (page) =>
      client.uncertainties.list({ workspaceId, view: 'summary', ...page }),
    );
    return rows.map((each) => each.uncertaintyId);
  });
}

/**
 * Lets a person choose an open question, if there is more than one.
 * @returns its ID; null if no question is open.
 * @throws {CliError} USAGE with the open questions, if no person can choose.
 */
export async function chooseQuestionId(
  io: Io,
  { client, workspaceId }: HubSession,
): Promise<string | null> {
  const { uncertainties: open, nextCursor } = await client.uncertainties.inbox({
    workspaceId,
    limit: CHOICES_MAX,
  });
  if (!io.isInteractive) throw missingQuestion(open);
  const [first] = open;
  if (first === undefined) return null;
  if (open.length === 1) return first.uncertaintyId;
  const rows = open.map(({ uncertaintyId, kind, title }) => ({
    label: titleText(title),
    hint: `${kindWords[kind]}, ${shortId(uncertaintyId)}`,
  }));
  if (nextCursor !== null) io.note(asTyped('More questions: signalbox inbox --all'));
  const at = await askChoice(io, 'Which question?', rows, 0);
  return open[at]?.uncertaintyId ?? null;
}

function missingQuestion(open: readonly ListedUncertainty[]): CliError {
  const lines = open.map((each) => `  ${shortId(each.uncertaintyId)}  ${titleText(each.title)}`);
  const message =
    open.length === 0
      ? 'Name a question. None is open.'
      : `Name a question. Open questions:\n${lines.join('\n')}`;
  const id = shortId(open[0]?.uncertaintyId ?? 'ID');
  return new CliError(exitCodes.usage, 'USAGE', message, {
    fix: `Name one: signalbox answer ${id} --option VALUE, --text "…" or --dismiss`,
  });
}

function titleText(title: string): string {
  return truncateText(oneLine(title), TITLE_WIDTH);
}
