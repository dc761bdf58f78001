import type { HubSession } from './hub-session.ts';
import { findIdByEnding, type IdKind } from './id-reference.ts';

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
  signal: AbortSignal,
): Promise<string> {
  return await findIdByEnding(uncertaintyId, text, async (page) => {
    const list = { workspaceId, view: 'summary', ...page } as const;
    const { uncertainties, nextCursor } = await client.uncertainties.list(list, { signal });
    return { rows: uncertainties.map((each) => each.uncertaintyId), nextCursor };
  });
}
