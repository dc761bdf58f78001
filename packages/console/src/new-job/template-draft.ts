import type { JobTemplate, JobTemplateValues } from '@signalbox/contract';
import { emptyDraft, type JobDraft, limitsOf, requestOf, splitRequirements } from './job-draft.ts';

/** Blanks of a prompt, such as `{{area}}`, as the command line reads them. */
const blank = /\{\{\s*([A-Za-z][\w-]*)\s*\}\}/g;

/**
 * The draft that a template begins. What was written becomes its `{{prompt}}`, and stays if the
 * template has no prompt.
 */
export function draftOfTemplate({ values }: JobTemplate, before: JobDraft): JobDraft {
  const written = before.prompt.trim();
  return {
    ...emptyDraft,
    ...splitRequirements(values.requirements ?? null),
    repoId: values.repoId ?? before.repoId,
    kind: values.kind ?? 'work',
    prompt: (values.prompt ?? before.prompt).replace(blank, (text, name) =>
      name === 'prompt' && written !== '' ? written : text,
    ),
    priority: values.priority === undefined ? '' : String(values.priority),
    ...limitsOf(values.budget ?? null),
    concurrencyKey: values.concurrencyKey ?? '',
    maxAttempts: values.maxAttempts === undefined ? '' : String(values.maxAttempts),
    role: values.role ?? '',
    variants: (values.variants ?? []).map(({ tool, model }) => ({
      tool: tool ?? '',
      model: model ?? '',
    })),
    attachments: before.attachments,
  };
}

/** The blanks of a template that a draft still has. */
export function blanksLeft({ values }: JobTemplate, draft: JobDraft): string[] {
  const ofDraft = new Set(draft.prompt.match(blank));
  return [...new Set(values.prompt?.match(blank))].filter((text) => ofDraft.has(text));
}

/** The values that a template keeps of a draft; or why it cannot keep them. */
export function valuesOfDraft(
  draft: JobDraft,
  keepsRepository: boolean,
): { values: JobTemplateValues; fault: null } | { values: null; fault: string } {
  // Only what a job needs is filled in, so that the rest is read as it would be sent.
  const { request, faults } = requestOf('', {
    ...draft,
    repoId: draft.repoId || '-',
    prompt: draft.prompt || '-',
    dependsOn: [],
    base: '',
    delay: '',
    runId: '',
    attachments: [],
  });
  if (request === null) return { values: null, fault: Object.values(faults).join(' ') };
  const { workspaceId: _, repoId, prompt, ...others } = request;
  return {
    fault: null,
    values: {
      ...others,
      ...(draft.prompt.trim() !== '' && { prompt }),
      ...(keepsRepository && draft.repoId !== '' && { repoId }),
    },
  };
}
