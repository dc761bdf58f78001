import type { Job } from '@signalbox/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { HubError } from '../src/api/hub-error.ts';
import { draftOfJob, emptyDraft, faultsOf, requestOf } from '../src/new-job/job-draft.ts';
import { keyFor, readStoredDraft, storeDraft } from '../src/new-job/stored-draft.ts';

const draft = { ...emptyDraft, repoId: 'repo_1', prompt: 'Add a check.' };
const faultsIn = (change: Partial<typeof draft>) =>
  Object.keys(requestOf('ws_1', { ...draft, ...change }).faults ?? {});

describe('the draft of a job', () => {
  test('becomes a request with what was entered, and no more', () => {
    expect(requestOf('ws_1', draft).request).toEqual({
      workspaceId: 'ws_1',
      repoId: 'repo_1',
      kind: 'work',
      prompt: 'Add a check.',
    });
    const more = { priority: '-5', delay: '1h30m', requirements: 'os=linux, gpu=a100' };
    const limits = {
      budgetUsd: '2.5',
      timeLimit: '30m',
      maxAttempts: '2',
      dependsOn: ['job_1'],
      base: ' release ',
      runId: 'run_1',
    };
    expect(requestOf('ws_1', { ...draft, ...more, ...limits }).request).toMatchObject({
      priority: -5,
      delayMs: 5_400_000,
      maxAttempts: 2,
      base: 'release',
      budget: { costUsd: 2.5, timeLimitMs: 1_800_000 },
      requirements: { labels: { os: 'linux', gpu: 'a100' } },
      dependsOn: ['job_1'],
      runId: 'run_1',
    });
  });

  test('a copy of a job has its base and its limits', () => {
    const budget = { costUsd: 2.5, timeLimitMs: 90_000 };
    const job = { ...draft, base: 'release', budget, dependsOn: [], requirements: null };
    const rest = { priority: 0, runId: null, concurrencyKey: null, role: 'implementer' };
    // Only the fields that a draft is made from.
    const copy = draftOfJob({ ...job, ...rest } as unknown as Job);
    expect(requestOf('ws_1', copy).request).toMatchObject({ base: 'release', budget });
  });

  test('names the field of each fault', () => {
    expect(faultsIn({ repoId: '', prompt: '  ' })).toEqual(['repoId', 'prompt']);
    expect(faultsIn({ priority: '1001' })).toEqual(['priority']);
    expect(faultsIn({ priority: '1.5' })).toEqual(['priority']);
    expect(faultsIn({ maxAttempts: '0' })).toEqual(['maxAttempts']);
    expect(faultsIn({ delay: '10' })).toEqual(['delay']);
    expect(faultsIn({ delay: '400d' })).toEqual(['delay']);
    expect(faultsIn({ requirements: '{"labels"' })).toEqual(['requirements']);
    expect(faultsIn({ requirements: 'linux' })).toEqual(['requirements']);
    expect(faultsIn({ budgetUsd: '-1' })).toEqual(['budgetUsd']);
  });

  test.each([
    null,
    'Use the staging database.',
    { labels: { os: 'linux', gpu: 'a100' } },
    { labels: { 'with space': 'x' } },
    { networkRequired: true, labels: { os: 'linux' } },
    { tool: 'codex', model: 'gpt-5.5' },
    { tool: 'codex', labels: { os: 'linux' } },
  ])('a copy of a job has the same requirements: %j', (requirements) => {
    const job = { ...draft, requirements, priority: 0, dependsOn: [], runId: null, budget: null };
    const rest = { concurrencyKey: null, role: 'implementer' };
    // Only the fields that a draft is made from.
    const copy = draftOfJob({ ...job, ...rest } as unknown as Job);
    expect(requestOf('ws_1', copy).request?.requirements).toEqual(requirements ?? undefined);
  });

  test('the hub’s refusals belong to the fields that they name', () => {
    const refuse = (path: string) =>
      faultsOf(
        new HubError('INVALID_REQUEST', 'No.', { details: [{ path, message: 'must be text' }] }),
      );
    expect(refuse('/requirements/labels/os')).toEqual({ requirements: 'It must be text.' });
    expect(refuse('/delayMs')).toEqual({ delay: 'It must be text.' });
    expect(refuse('/workspaceId')).toBeNull();
    expect(faultsOf(new HubError('RUN_NOT_FOUND', 'No such run.'))).toEqual({
      runId: 'No such run.',
    });
    expect(faultsOf(new HubError('UNREACHABLE', 'No answer.'))).toBeNull();
  });
});

describe('a stored draft', () => {
  beforeEach(() => localStorage.clear());

  test('survives a reload, with the key under which it was sent', () => {
    expect(readStoredDraft('ws_1')).toBeNull();
    storeDraft('ws_1', { draft, sent: { body: '{}', key: 'k' } });
    expect(readStoredDraft('ws_1')).toEqual({ draft, sent: { body: '{}', key: 'k' } });
    expect(readStoredDraft('ws_2')).toBeNull();
    storeDraft('ws_1', null);
    expect(readStoredDraft('ws_1')).toBeNull();
  });

  test('that another program has spoiled is ignored', () => {
    localStorage.setItem('signalbox.draft.ws_1', '{');
    expect(readStoredDraft('ws_1')).toBeNull();
    localStorage.setItem('signalbox.draft.ws_1', '{"draft":{"prompt":"x"}}');
    expect(readStoredDraft('ws_1')?.draft).toEqual({ ...emptyDraft, prompt: 'x' });
  });

  test('has one key as long as the request is the same, and another one afterwards', () => {
    const sent = { body: 'a', key: 'k' };
    expect(keyFor(sent, 'a')).toBe('k');
    expect(keyFor(sent, 'b')).not.toBe('k');
    expect(keyFor(null, 'a')).not.toBe(keyFor(null, 'a'));
  });
});
