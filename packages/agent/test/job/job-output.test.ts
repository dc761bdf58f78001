import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import test from 'node:test';
import { BODY_BYTES_MAX, formatToken } from '@signalbox/contract';
import { fileAppears, repoId, resultOf, setup } from '../support/harness.ts';

test('output arrives in order, within the request limits, with colours and without NUL', async (t) => {
  const { hub, start } = await setup(t);
  const held = hub.enqueue({ repoId });
  const agent = await start(
    `printf '\\033[31mred\\033[0m\\n'; seq 1 120000; printf 'a\\000b\\n'
     head -c 100000 /dev/zero | tr '\\0' x; printf '\\nend'`,
  );
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  const numbers = Array.from({ length: 120_000 }, (_, index) => `${index + 1}\n`).join('');
  const expected = `\u001b[31mred\u001b[0m\n${numbers}a\uFFFDb\n${'x'.repeat(100_000)}\nend`;
  assert.equal(hub.output(held, 'stdout') === expected, true);
  const seqs = [...held.log.keys()].sort((a, b) => a - b);
  assert.deepEqual(
    seqs,
    Array.from({ length: seqs.length }, (_, index) => index + 1),
  );
  const appends = hub.calls.filter(({ path }) => path.endsWith('/append'));
  const largest = Math.max(...appends.map(({ body }) => Buffer.byteLength(JSON.stringify(body))));
  assert.ok(largest <= BODY_BYTES_MAX, `the largest request had ${largest} bytes`);
  assert.ok(appends.length < seqs.length, 'entries are sent in batches');
});

test('secrets are redacted anywhere, even when split within a line', async (t) => {
  const { hub, start } = await setup(t);
  const other = formatToken('service', randomBytes(32));
  const held = hub.enqueue({ repoId });
  const agent = await start(
    `echo "job $SIGNALBOX_JOB_TOKEN."; echo "other ${other}" >&2; echo "key=$DEPLOY_API_KEY"
     printf 'sec'; sleep 0.3; printf 'ret-of-mine\\n'
     head -c 16380 /dev/zero | tr '\\0' y; printf 'secret-of-mine'; head -c 20000 /dev/zero | tr '\\0' y; echo
     echo "https://ada:hunter2@example.test/x.git"; echo "plain $NOT_HIDDEN"
     exit 3`,
    { env: { ...process.env, DEPLOY_API_KEY: 'secret-of-mine', NOT_HIDDEN: 'visible-value' } },
  );
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  const sent = JSON.stringify(hub.calls.map(({ body }) => body));
  for (const secret of [hub.token, held.jobToken, other, 'secret-of-mine', 'hunter2']) {
    assert.equal(sent.includes(secret), false, `${secret} was sent`);
  }
  assert.match(hub.output(held), /key=\[redacted\]\n/);
  assert.match(hub.output(held), /plain visible-value\n/);
  assert.equal(hub.output(held, 'stderr'), 'other sbx_s_…\n');
  const { outcome, message, outcomeReason } = resultOf(held);
  assert.equal(outcome, 'failed');
  assert.equal(message, 'The command exited with 3: other sbx_s_…');
  const { category, code, retryable } = outcomeReason ?? {};
  assert.deepEqual(
    { category, code, retryable },
    {
      category: 'execution',
      code: 'exit_3',
      retryable: false,
    },
  );
});

test('output waits in a file while the hub is unavailable, and arrives complete', async (t) => {
  const { hub, directory, start } = await setup(t);
  const held = hub.enqueue({ repoId });
  hub.trouble('/append', 503, 3);
  hub.trouble('/append', 'lose', 1);
  const agent = await start(`seq 1 50000; touch ${directory}/written`);
  await fileAppears(join(directory, 'written'));
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  const expected = Array.from({ length: 50_000 }, (_, index) => `${index + 1}\n`).join('');
  assert.equal(hub.output(held, 'stdout') === expected, true);
});

test('a hub without the log extension still gets the result', async (t) => {
  const { hub, start } = await setup(t);
  const held = hub.enqueue({ repoId });
  hub.trouble('/append', 404, 1_000);
  const agent = await start('echo unheard');
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  assert.equal(resultOf(held).outcome, 'done');
  assert.equal(held.log.size, 0);
});

test('output beyond the limit is cut with a note', async (t) => {
  const { hub, start } = await setup(t);
  const held = hub.enqueue({ repoId });
  const agent = await start('seq 1 100000; echo out of sight', { logBytesMax: 100_000 });
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  assert.match(hub.output(held), /\[output beyond 100000 bytes is not kept\]\n$/);
  assert.ok(hub.output(held).length < 300_000);
});
