import type { JobStatus, Resolution } from '@signalbox/contract';
import { describe, expect, it, test } from 'vitest';
import {
  answerLine,
  effectWords,
  formHint,
  handOverWords,
  replacedWords,
  resolverWords,
} from '../src/format/resolution-words.ts';

type Ended = Pick<Resolution, 'mode' | 'value' | 'createdBy'>;

/** The ways in which a question is resolved. */
const ways = {
  answered: { mode: 'answered', value: '9443', createdBy: 'Ada' },
  accepted: { mode: 'assumed', value: '8080', createdBy: 'Ada' },
  expired: { mode: 'assumed', value: '8080', createdBy: null },
  dismissed: { mode: 'dismissed', value: '', createdBy: 'Ada' },
  'died with its job': { mode: 'dismissed', value: '', createdBy: null },
} as const satisfies Record<string, Ended>;
type Way = keyof typeof ways;

/** Who asked: a job in some status, a job that is deleted, or a run without a job. */
const askers = {
  'a blocked job': { jobId: 'job_1', job: { status: 'blocked' } },
  'a pending job': { jobId: 'job_1', job: { status: 'pending' } },
  'a running job': { jobId: 'job_1', job: { status: 'running' } },
  'a done job': { jobId: 'job_1', job: { status: 'done' } },
  'a failed job': { jobId: 'job_1', job: { status: 'failed' } },
  'a canceled job': { jobId: 'job_1', job: { status: 'canceled' } },
  'a deleted job': { jobId: 'job_1', job: null },
  'a run': { jobId: null, job: null },
} as const satisfies Record<string, { jobId: string | null; job: { status: JobStatus } | null }>;
type Asker = keyof typeof askers;

const active = ['a blocked job', 'a pending job', 'a running job'] as const;
const ended = ['a done job', 'a failed job', 'a canceled job', 'a deleted job'] as const;

const nothing = 'No job waits for an answer, so nothing else happens.';
/** Each way, each asker: what the card says of the effect. */
const effects: readonly [Way, readonly Asker[], string | null][] = [
  ['answered', active, 'The job continues with this answer.'],
  ['answered', ended, null],
  ['answered', ['a run'], 'Another job applies it in the repository.'],
  ['accepted', active, 'The job continues with the assumed value.'],
  ['accepted', ended, null],
  ['accepted', ['a run'], 'Another job applies it in the repository.'],
  ['expired', active, 'The job continues with the assumed value.'],
  ['expired', ended, null],
  ['expired', ['a run'], 'Another job applies it in the repository.'],
  ['dismissed', active, 'The job continues without an answer.'],
  ['dismissed', ended, nothing],
  ['dismissed', ['a run'], nothing],
  ['died with its job', ended, 'Nothing can use an answer any more.'],
];

describe('a resolved question', () => {
  const cases = effects.flatMap(([way, ofAskers, words]) =>
    ofAskers.map((asker) => [way, asker, words] as const),
  );

  it.each(cases)('that was %s, of %s, says what follows: %s', (way, asker, words) => {
    const { jobId, job } = askers[asker];
    const asked = { decisionRequestId: 'dec_1', assumedValue: '8080', jobId };
    expect(effectWords(asked, ways[way], job)).toBe(words);
  });

  it('is covered for each way and each asker', () => {
    const covered = new Set(cases.map(([way, asker]) => `${way} ${asker}`));
    // A question dies with a job that has ended, and only so.
    const all = Object.keys(ways).flatMap((way) =>
      (way === 'died with its job' ? ended : Object.keys(askers)).map((asker) => `${way} ${asker}`),
    );
    expect([...covered].sort()).toEqual(all.sort());
  });

  it('that was never in the inbox changes nothing when the assumed value is confirmed', () => {
    const asked = { decisionRequestId: null, assumedValue: '8080', jobId: null };
    expect(effectWords(asked, { ...ways.answered, value: '8080' }, null)).toBe(
      'The work is based on this value already.',
    );
    expect(effectWords(asked, ways.answered, null)).toMatch(/^Another job applies it/);
  });
});

test.each([
  ['answered', 'Ada answered', 'You answered', 'Ada: 9443'],
  ['accepted', 'Ada accepted the assumed value', 'You accepted the assumed value', 'Ada: 8080'],
  ['expired', 'The deadline passed', 'The deadline passed', 'Deadline: 8080'],
  ['dismissed', 'Ada dismissed the question', 'You dismissed the question', 'Ada: dismissed'],
  ['died with its job', 'The job ended', 'The job ended', 'The job ended'],
] as const)('a question that was %s names who resolved it', (way, theirs, mine, line) => {
  const { mode, value, createdBy } = ways[way];
  expect(resolverWords(ways[way])).toBe(theirs);
  expect(resolverWords(ways[way], { isMine: true })).toBe(mine);
  expect(answerLine({ mode, by: createdBy, title: value })).toBe(line);
});

test('a replaced answer keeps its value, a replaced dismissal has none', () => {
  expect(replacedWords(ways.answered)).toBe('Ada answered: 9443');
  expect(replacedWords(ways.expired)).toBe('The deadline passed: 8080');
  expect(replacedWords(ways.dismissed)).toBe('Ada dismissed the question');
});

test.each([
  ['answered', 'a blocked job', 4, 'The job gets it in 4 s'],
  ['answered', 'a blocked job', 0, 'The job gets it now'],
  ['dismissed', 'a blocked job', 4, 'Takes effect in 4 s'],
  ['answered', 'a done job', 4, 'Takes effect in 4 s'],
  ['answered', 'a run', 4, 'Takes effect in 4 s'],
] as const)('while it can be undone, a question %s for %s in %d s', (way, asker, left, words) => {
  const { job } = askers[asker];
  expect(handOverWords(ways[way], { job, secondsLeft: left })).toBe(words);
});

test('the form says that a job continues only where one waits', () => {
  for (const asker of active) expect(formHint(askers[asker].job)).toMatch(/lets the job continue/);
  for (const asker of [...ended, 'a run'] as const) {
    expect(formHint(askers[asker].job)).toMatch(/Dismiss closes the question without one/);
  }
});

test('a question of a session says what its terminal does', () => {
  const session = { tool: 'claude', machine: 'ada-laptop', sessionId: 's1' } as const;
  const asked = { decisionRequestId: 'dec_1', assumedValue: '', jobId: null, session };
  const withdrawn = { mode: 'dismissed', value: '', createdBy: null } as const;
  expect(resolverWords(withdrawn, { isOfSession: true })).toBe('The session waits no longer');
  expect(answerLine({ mode: 'dismissed', by: null, title: '' }, { isOfSession: true })).toBe(
    'The session waits no longer',
  );
  expect(effectWords(asked, withdrawn, null)).toMatch(/^It was answered at its terminal/);
  expect(effectWords(asked, ways.dismissed, null)).toBe('The session asks at its terminal.');
  expect(effectWords(asked, ways.answered, null)).toBe('The session continues with this answer.');
  expect(formHint(null, true)).toMatch(/Dismiss leaves it to the terminal/);
});
