import type { endpoints, ResponseOf } from '@signalbox/contract';
import { ApiError } from '@signalbox/sdk';
import type { JobContext } from './job-context.ts';
import { JobToolError } from './job-tool-error.ts';

type Section = ResponseOf<typeof endpoints.contextPacks.resolveRunV1>['sections'][number];

/** A common estimate for English text; the hub counts packs in the same unit. */
const CHARS_PER_TOKEN = 4;
/** The titles that an answer without a match names. */
const TITLES_MAX = 50;

/**
 * Returns the context that the workspace has for the run of this job, as Markdown. A run without a
 * context pack gets one.
 *
 * @param search words; sections that have more of them come first, those with none are left out.
 * @throws {JobToolError} the job belongs to no run.
 */
export async function readContext(
  context: JobContext,
  { search = '', maxTokens }: { search?: string | undefined; maxTokens: number },
  signal: AbortSignal,
): Promise<string> {
  const { client, ids } = context;
  const { job } = await client.jobs.get(ids, { signal });
  if (job.runId === null) {
    throw new JobToolError('This job belongs to no run, so there is no context for it.');
  }
  const sections = await resolveSections(context, job.runId, { maxTokens, signal });
  if (sections.length === 0) return 'There is no context for this run.';
  const chosen = selectSections(sections, search);
  if (chosen.length === 0) return `No section has these words. ${titlesOf(sections)}`;
  return fitSections(chosen, maxTokens * CHARS_PER_TOKEN);
}

async function resolveSections(
  { client, ids: { workspaceId } }: JobContext,
  runId: string,
  { maxTokens, signal }: { maxTokens: number; signal: AbortSignal },
): Promise<Section[]> {
  const ref = { workspaceId, runId };
  try {
    return (await client.contextPacks.resolveRunV1(ref, { signal })).sections;
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'CONTEXT_PACK_NOT_FOUND')) throw error;
  }
  const pack = { ...ref, tokenBudget: maxTokens };
  const { packId } = await client.contextPacks.buildRunV1(pack, { signal });
  return (await client.contextPacks.resolveRunV1({ ...ref, packId }, { signal })).sections;
}

function selectSections(sections: readonly Section[], search: string): readonly Section[] {
  const words = search.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return sections;
  return sections
    .map((section) => {
      const text = `${section.title}\n${section.text}`.toLowerCase();
      return { section, hits: words.filter((word) => text.includes(word)).length };
    })
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .map(({ section }) => section);
}

function titlesOf(sections: readonly Section[]): string {
  const titles = sections.slice(0, TITLES_MAX).map(({ title }) => `- ${title}`);
  return ['Sections, to be read without a search:', ...titles].join('\n');
}

function fitSections(sections: readonly Section[], charsMax: number): string {
  let text = '';
  for (const { title, source, trust, text: body } of sections) {
    text += `## ${title}\n(source: ${source}, trust: ${trust})\n\n${body.trim()}\n\n`;
    if (text.length > charsMax) return `${text.slice(0, charsMax)}… [cut: raise maxTokens]`;
  }
  return text.trimEnd();
}
