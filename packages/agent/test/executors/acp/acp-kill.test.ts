import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import test from 'node:test';
import { type AcpSetup, scriptedAgent, setupAcp } from '../../support/acp-harness.ts';

const run = 'run make it';

function toolPid(h: AcpSetup): number {
  const line = h.toolLog().findLast((one) => one.startsWith('pid '));
  return Number(line?.slice(4));
}

async function assertAskedAndRunOnce(h: AcpSetup, jobId: string): Promise<void> {
  const job = await h.until(jobId, 'done', 'failed');
  assert.equal(job.status, 'done', String(job.message));
  assert.equal(h.toolLog().filter((line) => line === 'ran make it').length, 1);
  assert.equal((await h.allQuestions(jobId)).length, 1, 'the person was asked once');
}

test('a tool that is killed while it asks is resumed, and the person is asked once', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue(`${run}; say Done.`);
  const [question] = await h.questions(jobId);
  assert.ok(question);
  process.kill(toolPid(h), 'SIGKILL');
  await h.untilTool(/^resume /);
  await h.answer(question, 'yes');
  await assertAskedAndRunOnce(h, jobId);
});

test('a tool that is killed with an answer that it had not used gets it again', async (t) => {
  const h = await setupAcp(t);
  const env = { ...h.env, ACP_SCRIPT_DIE_ONCE: join(h.directory, 'died') };
  await h.start({ env });
  const jobId = await h.enqueue(`${run}; say Done.`);
  const [question] = await h.questions(jobId);
  assert.ok(question);
  await h.answer(question, 'yes');
  await assertAskedAndRunOnce(h, jobId);
  assert.equal(h.toolLog().filter((line) => line === 'gets yes for make it').length, 2);
});

test('a hub that restarts while a tool waits loses neither question nor answer', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue(`${run}; say Done.`);
  const [question] = await h.questions(jobId);
  assert.ok(question);
  await h.stopHub();
  await h.startHub();
  await h.answer(question, 'yes');
  await assertAskedAndRunOnce(h, jobId);
});

test('an agent that is killed while its tool asks continues the session at its next start', async (t) => {
  const h = await setupAcp(t);
  const stateDir = join(h.directory, 'killed-state');
  const options = {
    ...{ baseUrl: h.baseUrl, workspaceId: h.workspaceId, stateDir, leaseMs: 2_000 },
    ...{ displayName: 'killed', killGraceMs: 500 },
    repositories: [{ repoId: h.repoId, path: h.clone }],
  };
  const script = join(import.meta.dirname, '../../support/acp-agent-process.ts');
  const acp = `${process.execPath} ${scriptedAgent}`;
  const agent = spawn(process.execPath, [script, JSON.stringify({ ...options, acp })], {
    env: h.env,
    stdio: 'inherit',
  });
  const jobId = await h.enqueue(`write before.txt; ${run}; say Done.`);
  const [question] = await h.questions(jobId);
  assert.ok(question);
  agent.kill('SIGKILL');
  await once(agent, 'exit');
  await h.answer(question, 'yes');
  await h.start(options);
  await assertAskedAndRunOnce(h, jobId);
  const job = await h.until(jobId, 'done');
  assert.deepEqual(job.evidence?.changedFiles, ['before.txt']);
  assert.ok(h.toolLog().some((line) => line.startsWith('resume ')));
});
