import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import test from 'node:test';
import { git, repoId, resultOf, type Setup, setup } from '../support/harness.ts';

/** Runs one job until its result is accepted. */
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

test('a failing command keeps its changes: its evidence names the commit', async (t) => {
  const parts = await setup(t);
  const { result } = await runOne(parts, 'echo partial > part.txt; echo broken >&2; exit 7');
  assert.equal(result.outcome, 'failed');
  assert.deepEqual(result.outcomeReason, {
    category: 'execution',
    code: 'exit_7',
    retryable: false,
    summary: 'The command exited with 7: broken',
  });
  assert.deepEqual(result.evidence.changedFiles, ['part.txt']);
  const { branch } = result.evidence;
  assert.equal(git(parts.clone, 'show', `${branch}:part.txt`), 'partial');
});

test('a result file reports blocked, with child jobs and usage', async (t) => {
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

test('a command does not decide whether its attempt counts', async (t) => {
  const parts = await setup(t);
  const reason = { code: 'busy', retryable: true, recommendedDelayMs: 5 };
  const result = { outcome: 'failed', outcomeReason: { ...reason, spendsAttempt: false } };
  const command = `cat > "$SIGNALBOX_RESULT_FILE" <<'END'\n${JSON.stringify(result)}\nEND`;
  assert.deepEqual((await runOne(parts, command)).result.outcomeReason, reason);
});

/** A command that notes these lines as the tools of a job do, and exits. */
const noting = (lines: readonly object[], exitCode = 0) => {
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  return `cat > "$SIGNALBOX_REPORT_FILE" <<'END'\n${text}\nEND\nexit ${exitCode}`;
};
const asked = { type: 'asked', uncertaintyId: 'unc_1', prompt: 'Which database?' };

test('a job whose tool was told to end by an open question is blocked, for any exit code', async (t) => {
  const parts = await setup(t);
  const parked = [asked, { type: 'parked', uncertaintyId: 'unc_1' }];
  const { outcome, message, outcomeReason } = (await runOne(parts, noting(parked, 6))).result;
  assert.equal(outcome, 'blocked');
  assert.equal(message, 'A person is asked: Which database?');
  assert.equal(outcomeReason?.code, 'waiting_for_answer');
});

test('a question that was answered later, or never waited for, blocks no job', async (t) => {
  const parts = await setup(t);
  const other = { type: 'asked', uncertaintyId: 'unc_2', prompt: 'Which port?' };
  const answered = ['parked', 'answered'].map((type) => ({ type, uncertaintyId: 'unc_1' }));
  const { outcome } = (await runOne(parts, noting([asked, ...answered, other]))).result;
  assert.equal(outcome, 'done');
});

test('what the tools of a job note becomes its outcome, evidence and children', async (t) => {
  const parts = await setup(t);
  const secret = 'hunter2-hunter2';
  const child = { kind: 'pr_review', prompt: 'Review it' };
  const file = { uploadId: 'upl_1', fileName: 'a.png', contentType: 'image/png', sizeBytes: 9 };
  const lines = [
    { type: 'evidence', check: 'npm test', outcome: 'passed', detail: `with ${secret}` },
    { type: 'file', ...file },
    { type: 'child', job: child },
    { type: 'finish', outcome: 'done', message: 'It works.' },
  ];
  const env = { ...process.env, DEPLOY_TOKEN: secret };
  const { result } = await runOne(parts, noting(lines), { env });
  const { reported, attachments } = result.evidence as Record<string, unknown>;
  assert.equal(result.outcome, 'done');
  assert.equal(result.message, 'It works.');
  const detail = 'with [redacted]';
  assert.deepEqual(reported, [{ check: 'npm test', outcome: 'passed', detail }]);
  assert.deepEqual(attachments, [file]);
  assert.deepEqual(result.children, [child]);
});

test('a tool that notes done and then fails has failed', async (t) => {
  const parts = await setup(t);
  const finish = [{ type: 'finish', outcome: 'done', message: 'It works.' }];
  const { outcome } = (await runOne(parts, noting(finish, 3))).result;
  assert.equal(outcome, 'failed');
});

test('a torn line of the report is left out and noted; the others count', async (t) => {
  const parts = await setup(t);
  const whole = ['a', 'b'].map((check) => ({ type: 'evidence', check, outcome: 'passed' }));
  const [first, second] = whole.map((line) => JSON.stringify(line));
  const text = `${first}\n{"type":"finish","outco\n${second}`;
  const command = `cat > "$SIGNALBOX_REPORT_FILE" <<'END'\n${text}\nEND`;
  const { held, result } = await runOne(parts, command);
  assert.equal(result.outcome, 'done');
  const { reported } = result.evidence as { reported?: { check: string }[] };
  assert.deepEqual(
    reported?.map(({ check }) => check),
    ['a', 'b'],
  );
  const log = [...held.log.values()].map(({ message }) => message).join('');
  assert.match(log, /signalbox: line 2 of the tool's report is torn, and is left out\.\n/);
});

test('findings of a review are in its evidence, without secrets', async (t) => {
  const parts = await setup(t);
  const secret = 'hunter2-hunter2';
  const finding = { file: 'src/a.ts', line: 3, severity: 'major', message: `Logs ${secret}` };
  const env = { ...process.env, DEPLOY_TOKEN: secret };
  const { result } = await runOne(parts, noting([{ type: 'finding', ...finding }]), { env });
  const { findings } = result.evidence as Record<string, unknown>;
  assert.deepEqual(findings, [{ ...finding, message: 'Logs [redacted]' }]);
});

test('an invalid line of the report fails the job with the reason', async (t) => {
  const parts = await setup(t);
  const { outcomeReason } = (await runOne(parts, noting([{ type: 'finish', outcome: 'great' }])))
    .result;
  assert.equal(outcomeReason?.code, 'result_file_invalid');
  assert.match(String(outcomeReason?.summary), /Line 1 of the tool's report is invalid at outcome/);
});

test('an invalid result file fails the job with the reason', async (t) => {
  const parts = await setup(t);
  const command = `echo '{"outcome": "great"}' > "$SIGNALBOX_RESULT_FILE"`;
  const { result } = await runOne(parts, command);
  assert.equal(result.outcome, 'failed');
  assert.equal(result.outcomeReason?.code, 'result_file_invalid');
  assert.match(result.message, /outcome must be one of done, failed, blocked/);
});

test('a command that reports done and then exits with an error has failed', async (t) => {
  const parts = await setup(t);
  const command = `echo '{"outcome": "done"}' > "$SIGNALBOX_RESULT_FILE"; exit 1`;
  assert.equal((await runOne(parts, command)).result.outcomeReason?.code, 'exit_1');
});

test('a missing clone is a retryable failure of this machine', async (t) => {
  const parts = await setup(t);
  await rm(parts.clone, { recursive: true });
  const { held, result } = await runOne(parts, 'true');
  assert.equal(result.outcomeReason?.code, 'checkout_failed');
  assert.equal(result.outcomeReason?.retryable, true);
  assert.match(result.message, /clone does not exist/);
  assert.match(parts.hub.output(held, 'agent'), /does not exist/);
});

test('a job starts from the commit named by the mapping', async (t) => {
  const parts = await setup(t);
  git(parts.clone, 'tag', 'v1');
  git(parts.clone, 'commit', '--quiet', '--allow-empty', '-m', 'Later');
  const repositories = [{ repoId, path: parts.clone, baseRef: 'v1' }];
  const { held } = await runOne(parts, 'git log --format=%s', { repositories });
  assert.equal(parts.hub.output(held, 'stdout'), 'Begin\n');
});

test('with fetchOrigin a job starts from the origin’s current default branch', async (t) => {
  const parts = await setup(t);
  git(parts.directory, 'clone', '--quiet', 'clone', 'second');
  const second = join(parts.directory, 'second');
  git(parts.clone, 'commit', '--quiet', '--allow-empty', '-m', 'News');
  const repositories = [{ repoId, path: second, fetchOrigin: true }];
  const { held } = await runOne(parts, 'git log --format=%s', { repositories });
  assert.equal(parts.hub.output(held, 'stdout'), 'News\nBegin\n');
});

test('hooks run in order, pass on their exports, and their secrets are redacted', async (t) => {
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

test('answers of people and textual requirements follow the prompt', async (t) => {
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

test('ids with path characters cannot leave the state directory', async (t) => {
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

test('changes that cannot be published are kept, and the result says where', async (t) => {
  const parts = await setup(t);
  // The clone is deleted while the command runs.
  const { result } = await runOne(parts, `echo precious > new.txt; rm -rf ${parts.clone}`);
  assert.equal(result.outcomeReason?.code, 'evidence_failed');
  const [key] = readdirSync(join(parts.stateDir, 'kept'));
  assert.match(result.message, new RegExp(`kept in .*/kept/${key}`));
  const kept = join(parts.stateDir, 'kept', String(key));
  assert.equal(readFileSync(join(kept, 'new.txt'), 'utf8'), 'precious\n');
});

test('a relative state directory works as the same absolute one', async (t) => {
  const parts = await setup(t);
  const stateDir = relative(process.cwd(), parts.stateDir);
  const { result } = await runOne(parts, 'echo new > new.txt', { stateDir });
  assert.equal(result.outcome, 'done', JSON.stringify(result.outcomeReason));
  assert.deepEqual(result.evidence.changedFiles, ['new.txt']);
});

test('a result that the hub rejects ends the job as a failure, with its commit', async (t) => {
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
