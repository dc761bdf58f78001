import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { git, repoId, resultOf, type Setup, setup } from './harness.ts';

/** Runs one job to its accepted result. */
async function runOne(
  parts: Setup,
  command: string,
  options: Parameters<Setup['start']>[1] = {},
  fields: Partial<Parameters<Setup['hub']['enqueue']>[0]> = {},
) {
  const { hub, start } = parts;
  const held = hub.enqueue({ repoId, ...fields });
  const agent = await start(command, options);
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  return { held, result: resultOf(held) };
}

function writeHook(hooksDir: string, name: string, text: string): void {
  mkdirSync(hooksDir, { recursive: true });
  writeFileSync(join(hooksDir, name), text);
  chmodSync(join(hooksDir, name), 0o755);
}

test('a failing command keeps its work: the commit is part of the failure', async (t) => {
  const parts = await setup(t);
  const { result } = await runOne(parts, 'echo partial > part.txt; echo broken >&2; exit 7');
  assert.equal(result.outcome, 'failed');
  assert.deepEqual(result.outcomeReason, {
    category: 'execution',
    code: 'exit_7',
    retryable: false,
    summary: 'The command exited with 7. broken',
  });
  assert.deepEqual(result.evidence.changedFiles, ['part.txt']);
  const { branch } = result.evidence;
  assert.equal(git(parts.clone, 'show', `${branch}:part.txt`), 'partial');
});

test('a command says by its result file that it is blocked, and which jobs should follow', async (t) => {
  const result = {
    outcome: 'blocked',
    message: 'Which database?',
    outcomeReason: { category: 'decision', code: 'needs_answer', retryable: false },
    children: [{ kind: 'work', prompt: 'Ask around' }],
    usage: { inputTokens: 5, outputTokens: 7, costUsd: 0.01, model: 'm-1' },
  };
  const parts = await setup(t);
  const command = `cat > "$SIGNALBOX_RESULT_FILE" <<'END'\n${JSON.stringify(result)}\nEND`;
  const { outcome, message, outcomeReason, children, usage } = (await runOne(parts, command))
    .result;
  assert.deepEqual({ outcome, message, outcomeReason, children, usage }, result);
});

test('a result file that cannot be used fails the job and says why', async (t) => {
  const parts = await setup(t);
  const command = `echo '{"outcome": "great"}' > "$SIGNALBOX_RESULT_FILE"`;
  const { result } = await runOne(parts, command);
  assert.equal(result.outcome, 'failed');
  assert.equal(result.outcomeReason?.code, 'result_file_invalid');
  assert.match(result.message, /outcome must be one of done, failed, blocked/);
});

test('a command that says done and then fails has failed', async (t) => {
  const parts = await setup(t);
  const command = `echo '{"outcome": "done"}' > "$SIGNALBOX_RESULT_FILE"; exit 1`;
  assert.equal((await runOne(parts, command)).result.outcomeReason?.code, 'exit_1');
});

test('a clone that is gone is trouble of this machine, and another may try', async (t) => {
  const parts = await setup(t);
  await rm(parts.clone, { recursive: true });
  const { held, result } = await runOne(parts, 'true');
  assert.equal(result.outcomeReason?.code, 'checkout_failed');
  assert.equal(result.outcomeReason?.retryable, true);
  assert.match(result.message, /clone is not a git repository/);
  assert.match(parts.hub.output(held, 'agent'), /not a git repository/);
});

test('a clone without a commit is refused with a sentence', async (t) => {
  const parts = await setup(t);
  await rm(parts.clone, { recursive: true });
  git(parts.directory, 'init', '--quiet', 'clone');
  const { result } = await runOne(parts, 'true');
  assert.match(result.message, /has no commit to start from yet/);
});

test('a job starts from the commit that the mapping names', async (t) => {
  const parts = await setup(t);
  git(parts.clone, 'tag', 'v1');
  git(parts.clone, 'commit', '--quiet', '--allow-empty', '-m', 'Later');
  const repositories = [{ repoId, path: parts.clone, baseRef: 'v1' }];
  const { held } = await runOne(parts, 'git log --format=%s', { repositories });
  assert.equal(parts.hub.output(held, 'stdout'), 'Begin\n');
});

test('with fetchOrigin a job starts from the origin’s default branch as it is now', async (t) => {
  const parts = await setup(t);
  git(parts.directory, 'clone', '--quiet', 'clone', 'second');
  const second = join(parts.directory, 'second');
  git(parts.clone, 'commit', '--quiet', '--allow-empty', '-m', 'News');
  const repositories = [{ repoId, path: second, fetchOrigin: true }];
  const { held } = await runOne(parts, 'git log --format=%s', { repositories });
  assert.equal(parts.hub.output(held, 'stdout'), 'News\nBegin\n');
});

test('hooks run in order, hand on what they export, and keep their secrets', async (t) => {
  const parts = await setup(t);
  const hooksDir = join(parts.directory, 'hooks');
  writeHook(hooksDir, 'environment', 'export BUILD_TOKEN=very-secret-value COLOUR=blue; echo 1');
  writeHook(hooksDir, 'pre-checkout', '#!/bin/sh\n[ ! -e README.md ] && echo 2');
  writeHook(hooksDir, 'pre-command', '#!/usr/bin/env bash\ncat README.md; echo 3 $COLOUR');
  writeHook(
    hooksDir,
    'post-command',
    `#!${process.execPath}\nconsole.log(5, process.env.SIGNALBOX_COMMAND_EXIT_STATUS)`,
  );
  const { held, result } = await runOne(parts, 'echo 4 $BUILD_TOKEN; exit 9', { hooksDir });
  assert.equal(parts.hub.output(held, 'stdout'), '1\n2\nhello\n3 blue\n4 [redacted]\n5 9\n');
  assert.equal(result.outcomeReason?.code, 'exit_9');
});

test('a failing hook fails the job before the command runs', async (t) => {
  const parts = await setup(t);
  const hooksDir = join(parts.directory, 'hooks');
  writeHook(hooksDir, 'pre-command', 'echo no >&2; exit 4');
  const { held, result } = await runOne(parts, 'echo ran', { hooksDir });
  assert.equal(result.outcomeReason?.code, 'hook_pre_command_failed');
  assert.equal(parts.hub.output(held, 'stdout'), '');
});

test('answers of people and written requirements follow the prompt', async (t) => {
  const parts = await setup(t);
  const decision = { uncertaintyId: 'unc_1', mode: 'answered', resolvedAt: '2026-01-01T00:00:00Z' };
  const fields = {
    prompt: 'Build it.',
    requirements: 'Keep it small.',
    decisions: [{ ...decision, prompt: 'Which database?', value: 'PostgreSQL' }],
  };
  const { held } = await runOne(parts, 'cat', {}, fields);
  assert.equal(
    parts.hub.output(held, 'stdout'),
    'Build it.\n\nRequirements:\nKeep it small.\n\nAnswers to earlier questions:\n' +
      '- Question: Which database?\n  Answer (answered): PostgreSQL\n',
  );
});

test('ids that are no plain names cannot leave the state directory', async (t) => {
  const parts = await setup(t);
  const jobId = '../../../escape';
  const { held, result } = await runOne(
    parts,
    'echo x > x; echo "$SIGNALBOX_WORKTREE"',
    {},
    { jobId },
  );
  assert.equal(result.outcome, 'done');
  assert.match(parts.hub.output(held, 'stdout'), /\/state\/jobs\/[0-9a-f]{32}-1\/worktree\n$/);
});

test('work that cannot be handed over is kept, and the job says where', async (t) => {
  const parts = await setup(t);
  // The clone goes while the command runs.
  const { result } = await runOne(parts, `echo precious > new.txt; rm -rf ${parts.clone}`);
  assert.equal(result.outcomeReason?.code, 'evidence_failed');
  const [key] = readdirSync(join(parts.stateDir, 'kept'));
  assert.match(result.message, new RegExp(`kept in .*/kept/${key}`));
  const kept = join(parts.stateDir, 'kept', String(key));
  assert.equal(git(kept, 'show', 'HEAD:new.txt'), 'precious');
});

test('a result that the hub cannot take ends the job as a failure, with its commit', async (t) => {
  const parts = await setup(t);
  parts.hub.refuseOnce('/jobs/complete', 'INVALID_REQUEST');
  const { held, result } = await runOne(parts, 'echo x > x.txt');
  assert.equal(result.outcome, 'failed');
  assert.equal(result.outcomeReason?.code, 'result_refused');
  assert.equal(
    result.evidence.commitSha,
    git(parts.clone, 'rev-parse', `signalbox/${held.job.jobId}-1`),
  );
  const refused = readdirSync(join(parts.stateDir, 'outbox', 'refused')).sort();
  assert.deepEqual(refused, [`${held.job.jobId}-1.json`]);
});
