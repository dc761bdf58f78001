/** The sandbox that a tool brings itself. Its commands fail one by one where it does not work. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { createCodexExecutor, IsolationError } from '../../src/index.ts';
import { findBubblewrap } from '../support/bubblewrap.ts';
import { repoId, resultOf, type Setup, setup } from '../support/harness.ts';

const bubblewrap = findBubblewrap();

/** Sandboxes in place of that of Codex; the programs that they run are in "$@". */
const sandboxes = {
  broken: 'echo "bwrap: No permissions to create a new namespace" >&2; exit 1',
  open: 'exec "$@"',
  confined:
    `exec ${bubblewrap.directory}/bwrap --ro-bind / / --dev-bind /dev /dev ` +
    '--ro-bind /dev/shm /dev/shm --bind "$PWD" "$PWD" "$@"',
};

function useSandbox({ directory }: Setup, name: keyof typeof sandboxes): NodeJS.ProcessEnv {
  const bin = join(directory, 'bin');
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh
if [ "$1" = --version ]; then echo "codex 9.9.9"; exit 0; fi
if [ "$1" = sandbox ]; then
  while [ "$1" != -- ]; do shift; done; shift
  ${sandboxes[name]}
fi
cat > /dev/null; echo ran > ${directory}/ran
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
`;
  writeFileSync(join(bin, 'codex'), script, { mode: 0o755 });
  return { ...process.env, HOME: directory, PATH: `${bin}:${process.env.PATH}` };
}

async function runJob(parts: Setup, agentOf: () => ReturnType<Setup['start']>) {
  const agent = await agentOf();
  const held = parts.hub.enqueue({ repoId });
  await parts.hub.until('the result', () => held.completions.length > 0);
  await agent.drain();
  return { agent, held };
}

test('a sandbox that breaks after the start of the agent is no job that is done', async (t) => {
  const parts = await setup(t);
  const env = useSandbox(parts, 'open');
  const agent = await parts.start('', { executor: createCodexExecutor(), env });
  useSandbox(parts, 'broken');
  const held = parts.hub.enqueue({ repoId });
  await parts.hub.until('the result', () => held.completions.length > 0);
  await agent.stop();
  const [completion = {}] = held.completions;
  assert.equal(completion.outcome, 'failed');
  const { code, spendsAttempt, summary } = completion.outcomeReason as Record<string, unknown>;
  assert.deepEqual({ code, spendsAttempt }, { code: 'isolation_failed', spendsAttempt: false });
  assert.match(
    String(summary),
    /The sandbox of the tool does not work here: bwrap: No permissions/,
  );
});

test('a sandbox that does not confine is not named, and refused where it is asked for', async (t) => {
  const parts = await setup(t);
  const options = { executor: createCodexExecutor(), env: useSandbox(parts, 'open') };
  await assert.rejects(parts.start('', { ...options, isolation: 'tool' }), (error) => {
    assert.ok(error instanceof IsolationError, String(error));
    assert.match(error.message, /^isolation: tool does not hold\. .*: it writes to /);
    return true;
  });
  const { agent, held } = await runJob(parts, () => parts.start('', options));
  assert.deepEqual(agent.proof.rungs, []);
  assert.match(agent.proof.broken[0]?.why ?? '', /^it writes to /);
  const { isolation } = resultOf(held).evidence.executor as { isolation: { rungs: string[] } };
  assert.deepEqual(isolation.rungs, []);
});

test('a tool without a sandbox is refused where one is asked for', async (t) => {
  const parts = await setup(t);
  const executor = createCodexExecutor({ sandbox: 'danger-full-access' });
  const options = { executor, env: useSandbox(parts, 'open'), isolation: 'tool' } as const;
  await assert.rejects(parts.start('', options), /isolation: tool does not hold: the tool has no/);
  assert.deepEqual(parts.hub.calls, []);
});

if (bubblewrap.lack === null) {
  test('a sandbox that confines is named with what it holds, and no more', async (t) => {
    const parts = await setup(t);
    const options = { executor: createCodexExecutor(), env: useSandbox(parts, 'confined') };
    const { agent, held } = await runJob(parts, () =>
      parts.start('', { ...options, isolation: 'tool' }),
    );
    assert.deepEqual(agent.proof, { rungs: ['tool'], proved: ['writes'], broken: [] });
    const { isolation } = resultOf(held).evidence.executor as { isolation: object };
    assert.deepEqual({ ...isolation, user: '' }, { rungs: ['tool'], proved: ['writes'], user: '' });
  });
}
