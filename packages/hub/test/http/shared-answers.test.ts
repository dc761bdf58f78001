import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SharedAnswer, SharedAnswers } from '../../src/http/shared-answers.ts';

const question = { recordId: 'job_1', key: 'log of job_1' };

/** Reads that the test ends one by one. */
function createReads() {
  const begun: PromiseWithResolvers<SharedAnswer>[] = [];
  const read = () => {
    const next = Promise.withResolvers<SharedAnswer>();
    begun.push(next);
    return next.promise;
  };
  const end = (at: number, text: string, lasts = true) => begun[at]?.resolve({ text, lasts });
  return { begun, read, end };
}

test('callers who ask during a read share one that begins after it', async () => {
  const answers = new SharedAnswers(() => false);
  const { begun, read, end } = createReads();
  const first = answers.ask(question, read);
  const later = Array.from({ length: 49 }, () => answers.ask(question, read));
  const other = answers.ask({ ...question, key: 'get job_1' }, read);
  assert.equal(begun.length, 2, 'a question that is new begins a read at once');
  end(0, 'old');
  end(1, 'other');
  assert.equal(await first, 'old');
  assert.equal(await other, 'other');
  while (begun.length < 3) await new Promise(setImmediate);
  end(2, 'new');
  assert.deepEqual(new Set(await Promise.all(later)), new Set(['new']));
  assert.equal(begun.length, 3);

  const again = answers.ask(question, read);
  end(3, 'newest');
  assert.equal(await again, 'newest', 'nothing is kept where changes are not known');
});

test('an answer is kept until its record changes', async () => {
  const answers = new SharedAnswers(() => true);
  const { begun, read, end } = createReads();
  const first = answers.ask(question, read);
  const waiting = answers.ask(question, read);
  end(0, 'one');
  assert.deepEqual(await Promise.all([first, waiting]), ['one', 'one']);
  answers.forget('job_2');
  assert.equal(await answers.ask(question, read), 'one');
  assert.equal(begun.length, 1);

  for (const [at, changed] of [
    [1, 'job_1'],
    [2, null],
  ] as const) {
    answers.forget(changed);
    assert.equal(answers.keptChars, 0);
    const next = answers.ask(question, read);
    end(at, `answer ${at}`);
    assert.equal(await next, `answer ${at}`);
  }
});

test('an answer is not kept if its record changed during the read, or it does not last', async () => {
  const answers = new SharedAnswers(() => true);
  const { begun, read, end } = createReads();
  const during = answers.ask(question, read);
  answers.forget('job_1');
  const after = answers.ask(question, read);
  end(0, 'before the change');
  assert.equal(await during, 'before the change');
  while (begun.length < 2) await new Promise(setImmediate);
  end(1, 'after the change', false);
  assert.equal(await after, 'after the change');
  const next = answers.ask(question, read);
  assert.equal(begun.length, 3);
  end(2, 'now');
  assert.equal(await next, 'now');
});

test('a read that fails is not shared with callers who ask during it', async () => {
  const answers = new SharedAnswers(() => true);
  const { begun, read, end } = createReads();
  const first = answers.ask(question, read);
  const second = answers.ask(question, read);
  begun[0]?.reject(new Error('the database is unavailable'));
  await assert.rejects(first, /unavailable/);
  while (begun.length < 2) await new Promise(setImmediate);
  end(1, 'back');
  assert.equal(await second, 'back');
});

test('kept answers take a bounded amount of memory, and the oldest go first', async () => {
  const answers = new SharedAnswers(() => true);
  const ask = (recordId: string, chars: number) =>
    answers.ask({ recordId, key: recordId }, async () => ({
      text: recordId.padEnd(chars),
      lasts: true,
    }));
  for (let job = 0; job < 20; job += 1) await ask(`job_${job}`, 1_000_000);
  assert.equal(answers.keptChars, 16_000_000);
  const mark = await ask('job_19', 1);
  assert.equal(mark.length, 1_000_000, 'the latest is kept');
  assert.equal((await ask('job_0', 1)).length, 'job_0'.length, 'the first is not');
  await ask('job_large', 16_000_001);
  assert.ok(answers.keptChars <= 16_000_000);
});
