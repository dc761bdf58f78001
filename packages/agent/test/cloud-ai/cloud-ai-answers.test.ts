import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cloudAiProviderNames } from '../../src/index.ts';
import { setupCloudAi } from '../support/cloud-ai-harness.ts';
import type { Turn } from '../support/fake-provider.ts';

const paths = {
  anthropic: '/v1/messages',
  openai: '/v1/responses',
  'openai-compatible': '/v1/chat/completions',
} as const;
const schema = {
  type: 'object',
  properties: { value: { type: 'string' } },
  required: ['value'],
  additionalProperties: false,
};

for (const name of cloudAiProviderNames) {
  test(`${name}: every kind of provider answer ends the job`, async (t) => {
    const h = await setupCloudAi(t);
    await h.start({}, { name });
    t.beforeEach(() => h.provider.calls.splice(0));

    await t.test('the model answers a job, and its usage is reported', async () => {
      const job = await h.finish({ model: 'haiku' });
      assert.equal(job.status, 'done');
      assert.deepEqual(job.result, { text: 'Yes.' });
      assert.deepEqual(job.usage, { inputTokens: 11, outputTokens: 7, model: 'sonnet-2026' });
      const [call] = h.provider.calls;
      assert.equal(call?.path, paths[name]);
      assert.equal(call?.body.model, 'haiku');
      assert.match(JSON.stringify(call?.body), /Be short\..*Yes\?/);
      if (name === 'openai') assert.equal(call?.body.store, false);
    });

    await t.test('a job with a schema requests, validates and returns JSON', async () => {
      h.provider.turns = [{ text: '{"value":"main"}' }];
      const job = await h.finish({ responseSchema: schema });
      assert.deepEqual(job.result, { json: { value: 'main' } });
      assert.match(JSON.stringify(h.provider.calls[0]?.body), /"value":\{"type":"string"\}/);
    });

    await t.test('temporary failures are retried', async () => {
      const passing: Turn[] = [
        { status: 429, type: 'rate_limit_error', headers: { 'retry-after-ms': '20' } },
        { status: 500 },
        { status: 529, type: 'overloaded_error', message: 'Overloaded' },
        { raw: '{"id": "msg_1", "content": [' },
        { raw: '<html>Bad gateway</html>' },
        { broken: 'before' },
        { broken: 'within' },
      ];
      h.provider.turns = [...passing];
      const job = await h.finish();
      assert.deepEqual([job.status, job.result], ['done', { text: 'Yes.' }]);
      const retries = h.events.filter(({ type }) => type === 'call-retry');
      assert.equal(retries.length, passing.length);
    });

    await t.test('a refusal of the model fails the job without a retry', async () => {
      h.provider.turns = [{ refusal: 'I would rather not.' }];
      const job = await h.finish();
      assert.equal(job.status, 'failed');
      assert.equal(job.message, 'The model refused to answer.');
      assert.deepEqual(job.result, { text: 'I would rather not.' });
      assert.equal(job.usage?.outputTokens, 7);
      assert.equal(h.provider.calls.length, 1);
    });

    await t.test('a truncated answer fails the job and is kept', async () => {
      h.provider.turns = [{ cutText: 'First of al' }];
      const job = await h.finish();
      assert.deepEqual([job.status, job.result], ['failed', { text: 'First of al' }]);
      assert.match(job.message ?? '', /was truncated/);
    });

    await t.test('a request that the provider rejects fails the job without a retry', async () => {
      h.provider.turns = [
        { status: 400, type: 'invalid_request_error', message: 'messages: too long' },
      ];
      const job = await h.finish();
      assert.equal(job.message, 'The provider answers 400: messages: too long');
      assert.equal(h.provider.calls.length, 1);
    });
  });

  test(`${name}: a rejected key ends the executor and releases the job`, async (t) => {
    const h = await setupCloudAi(t);
    const apiKey = 'sk-wrong-fedcba9876543210';
    const agent = await h.start({ secrets: [apiKey] }, { name, apiKey });
    const id = await h.enqueue();
    await assert.rejects(agent.done, (error: Error) => {
      assert.equal(error.name, 'CloudAiProviderRefusedError');
      assert.match(error.message, /401: .*\[redacted\]/);
      assert.ok(!error.message.includes(apiKey));
      return true;
    });
    const job = await h.get(id);
    assert.notEqual(job.outcome, 'failed');
    assert.ok(!JSON.stringify([h.events, job]).includes(apiKey));
  });
}

test('an account without credit ends the executor, despite a 429 status', async (t) => {
  const h = await setupCloudAi(t);
  const agent = await h.start({}, { name: 'openai' });
  h.provider.turns = [{ status: 429, type: 'insufficient_quota', message: 'Check your plan.' }];
  await h.enqueue();
  await assert.rejects(agent.done, /429: Check your plan/);
});

test('JSON that misses the schema is requested again, and the usage of every call counts', async (t) => {
  const h = await setupCloudAi(t);
  await h.start();
  h.provider.turns = [
    { text: '{"value":1}' },
    { text: 'Sure! Here it is.' },
    { text: '```json\n{"value":"main"}\n```' },
  ];
  const job = await h.finish({ responseSchema: schema });
  assert.deepEqual(job.result, { json: { value: 'main' } });
  assert.equal(job.usage?.outputTokens, 21);
});

test('a model that keeps missing the schema fails the job with the reason', async (t) => {
  const h = await setupCloudAi(t);
  await h.start();
  h.provider.turns = Array.from({ length: 9 }, () => ({ text: '{"value":1}' }));
  const job = await h.finish({ responseSchema: schema });
  assert.equal(job.status, 'failed');
  assert.match(job.message ?? '', /after 3 calls.*does not match the schema at \/value/);
  assert.equal(h.provider.calls.length, 3);
});

test('an invalid schema fails the job after at most one call', async (t) => {
  const h = await setupCloudAi(t);
  await h.start();
  h.provider.turns = [{ text: '"main"' }];
  const job = await h.finish({ responseSchema: { type: 'string', pattern: '(' } });
  assert.equal(job.status, 'failed');
  assert.match(job.message ?? '', /responseSchema is not usable/);
  assert.equal(h.provider.calls.length, 1);
});

test('a provider that keeps failing fails the job', async (t) => {
  const h = await setupCloudAi(t);
  await h.start();
  h.provider.turns = Array.from({ length: 20 }, () => ({ status: 503, message: 'Try later.' }));
  const job = await h.finish();
  assert.equal(job.message, 'Given up after 8 calls. The provider answers 503: Try later.');
  assert.equal(job.usage, null);
});

test('a retry delay beyond the time limit fails the job immediately', async (t) => {
  const h = await setupCloudAi(t);
  await h.start({ jobTimeLimitMs: 30_000 });
  h.provider.turns = [{ status: 429, headers: { 'retry-after': '3600' } }];
  const job = await h.finish();
  assert.match(job.message ?? '', /^Given up after 1 calls\. The provider answers 429/);
});

test('a date in retry-after is understood', async (t) => {
  const h = await setupCloudAi(t);
  await h.start({ jobTimeLimitMs: 30_000 });
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  h.provider.turns = [{ status: 503, headers: { 'retry-after': date } }];
  assert.equal((await h.finish()).status, 'failed');
});

test('a slow answer is aborted at the time limit, with its connection', async (t) => {
  const h = await setupCloudAi(t);
  await h.start({ jobTimeLimitMs: 200 });
  h.provider.turns = [{ waits: true }];
  const job = await h.finish();
  assert.equal(job.message, 'The job exceeded its time limit of 0.2 s.');
  await h.provider.until(() => h.provider.calls[0]?.isAborted === true);
});

test('an answer above the size limit of a result fails the job instead of being retried', async (t) => {
  const h = await setupCloudAi(t);
  await h.start();
  h.provider.turns = [{ text: 'ä'.repeat(150_000) }];
  const job = await h.finish();
  assert.match(job.message ?? '', /exceeds the limit/);
  assert.equal(job.usage?.inputTokens, 11);
});

test('characters that JSON readers reject are replaced before sending', async (t) => {
  const h = await setupCloudAi(t);
  await h.start();
  h.provider.turns = [{ text: 'a\0b\ud800c' }, { text: '{"value":"\\u0000"}' }];
  assert.deepEqual((await h.finish()).result, { text: 'a\ufffdb\ufffdc' });
  const job = await h.finish({ responseSchema: schema });
  assert.deepEqual(job.result, { json: { value: '\ufffd' } });
});
