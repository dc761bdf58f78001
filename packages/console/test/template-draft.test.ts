import type { JobTemplate, JobTemplateValues } from '@signalbox/contract';
import { describe, expect, test } from 'vitest';
import { emptyDraft } from '../src/new-job/job-draft.ts';
import { blanksLeft, draftOfTemplate, valuesOfDraft } from '../src/new-job/template-draft.ts';

const templateOf = (values: JobTemplateValues): JobTemplate => ({
  name: 'review',
  values,
  updatedAt: '2026-11-02T09:00:00.000Z',
  updatedBy: { id: 'usr_1', name: 'Ada' },
});

describe('a template of jobs', () => {
  test.each<JobTemplateValues>([
    { kind: 'work', prompt: 'Mend {{area}}.', repoId: 'repo_1', priority: -5, role: 'x' },
    { kind: 'pr_review', requirements: { tool: 'codex', labels: { os: 'linux' } } },
    { kind: 'work', requirements: 'Use the staging database.', budget: { costUsd: 2.5 } },
    { kind: 'work', variants: [{ tool: 'claude', model: 'opus' }, {}], maxAttempts: 2 },
    { kind: 'work', concurrencyKey: 'deploy' },
  ])('is the same after it was chosen and saved: %j', (values) => {
    const draft = draftOfTemplate(templateOf(values), emptyDraft);
    expect(valuesOfDraft(draft, true).values).toEqual(values);
  });

  test('takes what was written as its {{prompt}}, and leaves the other blanks', () => {
    const template = templateOf({ prompt: 'Review {{ area }}.\n{{prompt}}' });
    const draft = draftOfTemplate(template, { ...emptyDraft, prompt: 'Look $& here.' });
    expect(draft.prompt).toBe('Review {{ area }}.\nLook $& here.');
    expect(blanksLeft(template, draft)).toEqual(['{{ area }}']);
    expect(blanksLeft(template, { ...draft, prompt: 'Review {{other}}.' })).toEqual([]);
  });

  test('is not saved with values that a job cannot have', () => {
    const { values, fault } = valuesOfDraft({ ...emptyDraft, priority: '1.5' }, false);
    expect(values).toBeNull();
    expect(fault).toMatch(/whole number/);
  });
});
