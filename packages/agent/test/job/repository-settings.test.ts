import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { createCommandExecutor, ExecutorMissingError } from '../../src/index.ts';
import { makeRepository, repoId, resultOf, setup } from '../support/harness.ts';

test('each repository has its own tool and environment; what it lacks is the agent’s', async (t) => {
  const { hub, clone, directory, start } = await setup(t);
  const other = join(directory, 'other');
  await makeRepository(other);
  const held = hub.enqueue({ repoId });
  const otherHeld = hub.enqueue({ repoId: 'repo_other' });
  const agent = await start('echo "the agent: $SHARED $OWN"', {
    env: { ...process.env, SHARED: 'shared', OWN: 'general' },
    repositories: [
      { repoId, path: clone },
      {
        repoId: 'repo_other',
        path: other,
        environment: { OWN: 'own' },
        executor: createCommandExecutor({ command: 'echo "its tool: $SHARED $OWN"' }),
      },
    ],
  });
  await hub.until('both results', () => held.accepted !== null && otherHeld.accepted !== null);
  await agent.drain();
  assert.equal(resultOf(held).message, 'the agent: shared general');
  assert.equal(resultOf(otherHeld).message, 'its tool: shared own');
});

test('the tools of all repositories are checked before the first claim, and no others', async (t) => {
  const { clone, start } = await setup(t);
  const missing = createCommandExecutor({ command: ' ' });
  const working = createCommandExecutor({ command: 'true' });
  const repositories = [{ repoId, path: clone, executor: missing }];
  await assert.rejects(start('true', { repositories }), ExecutorMissingError);
  const agent = await start(' ', { repositories: [{ repoId, path: clone, executor: working }] });
  await agent.drain();
});
