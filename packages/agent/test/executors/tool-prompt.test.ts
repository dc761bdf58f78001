import assert from 'node:assert/strict';
import test from 'node:test';
import { type Job, jobKinds, writingJobKinds } from '@signalbox/contract';
import { composeToolPrompt } from '../../src/executors/tool-prompt.ts';

const means = { resultFile: null, hasServer: true };

function promptOf(kind: Job['kind']): string {
  const isReadOnly = !writingJobKinds.includes(kind);
  // Nothing else of the job is in the prompt.
  const job = { kind } as Job;
  return composeToolPrompt({ job, promptText: '/clear the cache\n', isReadOnly }, means);
}

test('a prompt never begins with the text of the job', () => {
  assert.match(promptOf('work'), /^Your task:\n\n\/clear the cache\n\n/);
});

test('each kind says in its own words what the tool may do, and where the result goes', () => {
  const abouts = jobKinds.map((kind) => {
    const [, about = ''] = /\nAbout this job:\n((?:[- ] .*\n)+)/.exec(promptOf(kind)) ?? [];
    assert.ok(about.length > 150, kind);
    const words = writingJobKinds.includes(kind) ? /Do not commit or push/ : /read-only/;
    assert.match(promptOf(kind), words, kind);
    return about;
  });
  assert.equal(new Set(abouts).size, jobKinds.length);
});

test('the tools of the job are named where the tool has them, and only there', () => {
  const job = { kind: 'pr_review' } as Job;
  const parts = { job, promptText: 'Review.', isReadOnly: true };
  assert.match(composeToolPrompt(parts, means), /report_finding/);
  const without = composeToolPrompt(parts, { ...means, hasServer: false });
  assert.doesNotMatch(without, /report_finding|ask_person/);
  assert.match(without, /If no person can answer you, end with what you found/);
});
