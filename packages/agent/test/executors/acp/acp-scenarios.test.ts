import assert from 'node:assert/strict';
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type AcpSetup, scriptedAgent, setupAcp } from '../../support/acp-harness.ts';

test('a form of the tool becomes a question, and its answer fills the form', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('form; say Thanks.');
  const [question] = await h.questions(jobId);
  assert.ok(question);
  assert.equal(question.kind, 'choice');
  assert.deepEqual(
    question.options.map(({ value }) => value),
    ['SQLite', 'PostgreSQL'],
  );
  await h.answer(question, 'PostgreSQL');
  assert.equal((await h.until(jobId, 'done', 'failed')).status, 'done');
  assert.ok(h.toolLog().includes('form {"action":"accept","content":{"question_0":"PostgreSQL"}}'));
});

test('an answer in own words goes into the text field beside the choice', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('form');
  const [question] = await h.questions(jobId);
  assert.ok(question);
  await h.answer(question, 'Both, by a switch.');
  assert.equal((await h.until(jobId, 'done', 'failed')).status, 'done');
  assert.ok(
    h
      .toolLog()
      .includes('form {"action":"accept","content":{"question_0_custom":"Both, by a switch."}}'),
  );
});

test('two permissions at once are two questions, each with its own answer', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('both start');
  const questions = await h.questions(jobId, 2);
  for (const question of questions) {
    await h.answer(question, question.prompt.endsWith('one') ? 'yes' : 'no');
  }
  await h.until(jobId, 'done', 'failed');
  assert.ok(h.toolLog().includes('ran start one'));
  assert.ok(!h.toolLog().includes('ran start two'));
});

test('rules allow and refuse without a person', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('run npm test; run git push origin; write inside.txt');
  const job = await h.until(jobId, 'done', 'failed', 'blocked');
  assert.equal(job.status, 'done');
  assert.ok(h.toolLog().includes('ran npm test'));
  assert.ok(h.toolLog().includes('gets no for git push origin'));
  assert.deepEqual(job.evidence?.changedFiles, ['inside.txt']);
  assert.match(await h.output(jobId), /refused by a rule: git push origin/);
});

test('a read-only job changes no file', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('write inside.txt', 'pr_review');
  assert.equal((await h.until(jobId, 'done', 'failed')).status, 'done');
  assert.ok(h.toolLog().some((line) => line.startsWith('gets no for Write ')));
});

test('a tool that crashes is started again with its session', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('say Begin.; run make it; crash; say Never.');
  const [question] = await h.questions(jobId);
  assert.ok(question);
  await h.answer(question, 'yes');
  assert.match(await h.untilEvent(jobId, 'failed'), /The tool exited with 7 .* out of luck$/);
  assert.match(await h.output(jobId), /Its session is resumed\./);
  assert.equal(h.toolLog().filter((line) => line.startsWith('resume ')).length, 2);
  assert.equal(h.toolLog().filter((line) => line === 'ran make it').length, 1);
});

test('a tool that is killed with its session unsaved begins again, with its open question', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('run make it; say Done.');
  const [question] = await h.questions(jobId);
  assert.ok(question);
  const [session = ''] = globSync(join(h.directory, 'tool/session-*.json'));
  rmSync(session);
  const [, pid] = /^tool (\d+)$/.exec(h.toolLog()[0] ?? '') ?? [];
  process.kill(Number(pid), 'SIGKILL');
  // An answer that the agent hears before the end of the tool would count as used.
  await h.untilTool(new RegExp(`^tool (?!${pid}$)`));
  await h.answer(question, 'yes');
  const job = await h.until(jobId, 'done', 'failed');
  assert.equal(job.status, 'done', String(job.message));
  assert.match(await h.output(jobId), /could not resume session .* begins again/);
  assert.equal(h.toolLog().filter((line) => line === 'ran make it').length, 1);
  assert.equal((await h.allQuestions(jobId)).length, 1, 'the person is asked once');
});

test('a tool that is killed below its adapter is started again with its session', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('fail The Claude Agent process exited unexpectedly.');
  assert.match(await h.untilEvent(jobId, 'failed'), /^The tool crashed: .*exited unexpectedly/);
  assert.equal(h.toolLog().filter((line) => line.startsWith('resume ')).length, 2);
});

for (const [step, code] of [
  ['stop refusal', 'refused'],
  ['stop max_tokens', 'output_limit'],
  ['stop max_turn_requests', 'max_turns'],
  ['fail Context window exceeded', 'context_too_long'],
] as const) {
  test(`the end of a turn by "${step}" fails the job with ${code}`, async (t) => {
    const h = await setupAcp(t);
    await h.start();
    const jobId = await h.enqueue(step);
    const { outcomeReason } = await h.until(jobId, 'failed');
    assert.equal((outcomeReason as { code?: string }).code, code);
  });
}

test('a tool that is not logged in says so, and the job is tried again later', async (t) => {
  const h = await setupAcp(t);
  await h.start({ env: { ...h.env, ACP_SCRIPT_LOGIN: 'needed' } });
  const jobId = await h.enqueue('say Hello.');
  assert.match(
    await h.untilEvent(jobId, 'failed'),
    /^acp is not logged in\. Log in with the tool on this machine\./,
  );
});

test('a tool of another version of the protocol is named', async (t) => {
  const h = await setupAcp(t);
  await h.start({ env: { ...h.env, ACP_SCRIPT_VERSION: '99' } });
  const jobId = await h.enqueue('say Hello.');
  const { outcomeReason } = await h.until(jobId, 'failed');
  assert.equal((outcomeReason as { code?: string }).code, 'protocol_unsupported');
});

test('a model that the tool does not have fails the job, and names those that it has', async (t) => {
  const h = await setupAcp(t);
  await h.start({ acp: { model: 'enormous' } });
  const jobId = await h.enqueue('say Hello.');
  const { message } = await h.until(jobId, 'failed');
  assert.equal(message, 'The tool does not have the model "enormous". It offers small.');
});

test('garbage and much output do no harm; a plan is shown', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('plan Look around; garbage; huge; say Done.');
  const job = await h.until(jobId, 'done', 'failed');
  assert.equal(job.status, 'done', String(job.message));
  assert.match(await h.output(jobId), /Plan:\n {2}▸ Look around\n/);
});

test('a canceled job ends its tool', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('say Here.; hang');
  await h.untilTool(/^prompt /);
  await h.client.jobs.cancel({ workspaceId: h.workspaceId, jobId });
  await h.until(jobId, 'canceled');
});

/**
 * The scripted tool under the name of a known one, and that tool's own settings.
 *
 * @param end commands after the tool, whose exit code is `$?`.
 */
function nameTool(
  { directory, env }: AcpSetup,
  command: string,
  end: readonly string[] = [],
): NodeJS.ProcessEnv {
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  const tool = `'${process.execPath}' '${scriptedAgent}'`;
  const script = [
    '#!/bin/sh',
    'if [ "$1" = --version ]; then echo 0.0.1; exit; fi',
    ...(end.length === 0 ? [`exec ${tool}`] : [tool, ...end]),
    '',
  ].join('\n');
  writeFileSync(join(bin, command), script, { mode: 0o755 });
  return { ...env, PATH: `${bin}:${env.PATH}` };
}

test('a person is asked when the session of the tool can be resumed, and not before', async (t) => {
  const h = await setupAcp(t);
  await h.start({ acp: { agent: 'claude' }, env: nameTool(h, 'claude-agent-acp') });
  const jobId = await h.enqueue('run make it; say Done.');
  await h.untilTool(/^asks make it$/);
  await h.untilTool(/^lists 3$/);
  assert.deepEqual(await h.allQuestions(jobId), []);
  writeFileSync(join(h.directory, 'tool/stored'), '');
  const [question] = await h.questions(jobId);
  assert.ok(question);
  await h.answer(question, 'yes');
  const job = await h.until(jobId, 'done', 'failed');
  assert.ok(h.toolLog().includes('ran make it'));
  assert.ok(h.toolLog().includes('mode default'), 'its own mode decides nothing');
  const { mode, warnings } = (job.evidence as { executor: Record<string, unknown> }).executor;
  assert.equal(mode, 'default');
  assert.match(String(warnings), /claude-agent-acp 0\.0\.1 was not tested with this agent/);
});

/** As Claude's adapter prints them. */
const notes = [
  'Unexpected case: {"type":"system","subtype":"ui_invalidate","session_id":"x"}',
  '[session/create] sessionId=x durationMs=12',
  'Session 0f8fad5b-d9cb-469f-a165-70867728950e: failed to publish state Error: Connection closed',
  '    at Connection.notify (file:///sdk/connection.js:20:11) {',
  '  code: -32603',
  '}',
];

test('notes of an adapter about itself are neither output nor the reason of a failure', async (t) => {
  const h = await setupAcp(t);
  const file = join(h.directory, 'notes');
  writeFileSync(file, `${notes.join('\n')}\n`);
  const env = nameTool(h, 'claude-agent-acp', ['code=$?', `cat '${file}' >&2`, 'exit $code']);
  await h.start({ acp: { agent: 'claude' }, env });
  const jobId = await h.enqueue('say Begin.; crash');
  assert.match(await h.untilEvent(jobId, 'failed'), /The tool exited with 7 .* out of luck$/);
  const output = await h.output(jobId);
  assert.match(output, /^out of luck$/m);
  for (const note of notes) assert.ok(!output.includes(`${note}\n`), output);
});

test('what the tool has decided by itself is in the evidence', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue(
    'sneak make it; sneak npm test; forbid rm x; write in.txt; say Done.',
  );
  const job = await h.until(jobId, 'done', 'failed');
  const { denied, unasked } = (job.evidence as { executor: Record<string, unknown> }).executor;
  assert.deepEqual(unasked, ['execute: make it'], 'the agent itself allows npm test');
  assert.deepEqual(denied, ['execute: rm x (Permission denied: Classifier unavailable)']);
});
