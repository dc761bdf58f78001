import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  consoleEndpoints,
  endpoints,
  resolutionModes,
  type UncertaintyKind,
  uncertaintyKinds,
} from '@signalbox/contract';
import fc from 'fast-check';
import { type Assistant, connectAssistant, eras } from '../support/assistant.ts';
import { startDecisionWorld } from '../support/decision-world.ts';
import { listAudit, logDeviceIn, makeOwner } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';

const answerableKinds: readonly UncertaintyKind[] = [
  'missing_fact',
  'choice',
  'constraint',
  'config',
];

/** A question of each kind, and one of an answerable kind about the action of a tool. */
async function askAll(world: Awaited<ReturnType<typeof startDecisionWorld>>) {
  const closed: string[] = [];
  const open: string[] = [];
  for (const kind of uncertaintyKinds) {
    const asked = await world.ask({
      kind,
      prompt: `Approve everything that waits, at once: ${kind}.`,
      options: [{ value: 'allow' }, { value: 'refuse' }],
      recommendedValue: 'allow',
    });
    (answerableKinds.includes(kind) ? open : closed).push(asked.uncertaintyId);
  }
  const { jobId } = await world.enqueue({ runId: world.runId, priority: 100 });
  const { claimGeneration = 0 } = await world.claim();
  const { agentId } = world;
  const action = await world.ask({ jobId, agentId, claimGeneration, actionKey: 'k1' });
  closed.push(action.uncertaintyId);
  return { open, closed };
}

const answer = (uncertaintyId: string) => ({
  uncertaintyId,
  mode: 'answered',
  value: 'allow',
  confidence: 1,
});

test('an assistant that approves everything settles no approval, risk or action', async (t) => {
  const world = await startDecisionWorld(t);
  const { closed } = await askAll(world);
  const assistants: Assistant[] = [];
  for (const era of eras) {
    for (const opens of ['accept', 'decline', undefined] as const) {
      const options = { era, ...(opens === undefined ? {} : { opens }) };
      assistants.push(await connectAssistant(t, world.hub.baseUrl, world.home.token, options));
    }
  }
  const inputs = fc.record(
    {
      mode: fc.constantFrom(...resolutionModes),
      value: fc.constantFrom('allow', 'refuse', 'yes', ''),
      confidence: fc.constantFrom(0, 1),
      supersede: fc.boolean(),
      undoMs: fc.constantFrom(0, 10_000),
      idempotencyKey: fc.constantFrom('key-1', 'key-2'),
      workspaceId: fc.constant(world.workspaceId),
      kind: fc.constant('choice'),
    },
    { requiredKeys: ['mode', 'value', 'confidence'] },
  );
  const asked = fc.asyncProperty(
    fc.constantFrom(...assistants),
    fc.constantFrom(...closed),
    inputs,
    async ({ call }, uncertaintyId, input) => {
      const { isError } = await call('answer_decision', { uncertaintyId, ...input });
      assert.ok(isError);
      const { status, resolutions } = await world.read(uncertaintyId);
      assert.equal(status, 'open');
      assert.deepEqual(resolutions, []);
    },
  );
  await fc.assert(asked, { numRuns: 100 });
  assert.deepEqual(await auditedAnswers(world), []);
});

async function auditedAnswers({
  hub,
  workspaceId,
}: Awaited<ReturnType<typeof startDecisionWorld>>) {
  const entries = await listAudit(hub, workspaceId);
  return entries.filter(({ action }) => action === 'uncertainty.resolve');
}

test('the person gets a link to the console, as a page where the client opens pages', async (t) => {
  const world = await startDecisionWorld(t);
  const { closed } = await askAll(world);
  const { baseUrl } = world.hub;
  const { token, slug } = world.home;
  const [uncertaintyId = ''] = closed;
  const link = `${baseUrl}/w/${slug}/inbox/${uncertaintyId}`;
  const opener = await connectAssistant(t, baseUrl, token, { opens: 'accept' });
  const opened = await opener.call('answer_decision', answer(uncertaintyId));
  assert.deepEqual(opener.opened, [link]);
  assert.match(opened.text, /^Nothing was changed\. Only a person at the console/);
  for (const era of eras) {
    const plain = await connectAssistant(t, baseUrl, token, { era });
    const { text } = await plain.call('answer_decision', answer(uncertaintyId));
    assert.ok(text.endsWith(link), text);
  }
  await world.answer(uncertaintyId, { value: 'refuse' });
  const settled = await opener.call('answer_decision', answer(uncertaintyId));
  assert.match(settled.text, /^It is settled already/);
});

test('other questions are answered once, and by the first', async (t) => {
  const world = await startDecisionWorld(t);
  const { open } = await askAll(world);
  const { call } = await connectAssistant(t, world.hub.baseUrl, world.home.token);
  for (const uncertaintyId of open) {
    const { isError, text } = await call('answer_decision', answer(uncertaintyId));
    assert.equal(isError, false, text);
    const second = await call('answer_decision', { ...answer(uncertaintyId), value: 'refuse' });
    assert.match(second.text, /\(ALREADY_RESOLVED\)$/);
    assert.equal((await world.read(uncertaintyId)).resolution?.value, 'allow');
  }
  assert.equal((await auditedAnswers(world)).length, open.length);
});

test('the inbox and a question are read with what waits for them', async (t) => {
  const world = await startDecisionWorld(t);
  const { uncertaintyId } = await world.ask({
    prompt: 'Which port?',
    kind: 'choice',
    options: [{ value: '8080' }, { value: '9443', label: 'the secure one' }],
    recommendedValue: '9443',
  });
  const { call } = await connectAssistant(t, world.hub.baseUrl, world.home.token);
  const waits = await call('what_waits');
  assert.match(
    waits.text,
    new RegExp(`^Questions that wait: 1\\.\n- ${uncertaintyId} choice, open`),
  );
  const { text } = await call('get_decision', { uncertaintyId });
  assert.match(
    text,
    /Which port\?\nChoices:\n- 8080\n- 9443 \(the secure one\)\nRecommended: 9443/,
  );
});

test('what a machine of a person does is recorded as theirs, until it is logged out', async (t) => {
  const hub = await startTestHub(t);
  const { browser, personId, workspaceId } = await makeOwner(hub);
  const token = await logDeviceIn(hub, browser);
  const { call } = await connectAssistant(t, hub.address, token);
  const machine = hub.visitor().withToken(token);
  const repository = { workspaceId, remoteUrlHash: 'a'.repeat(64), label: 'api' };
  const { repoId } = await machine.call(endpoints.repositories.upsert, repository);
  const enqueued = await call('enqueue_job', { repoId, kind: 'work', prompt: 'Do it.' });
  const { jobId, job } = enqueued.content as { jobId: string; job: { createdBy: { id: string } } };
  assert.equal(job.createdBy.id, personId);
  await call('cancel_job', { jobId });
  const canceled = (await listAudit(hub, workspaceId)).find(
    ({ action }) => action === 'job.cancel',
  );
  assert.equal(canceled?.actor, personId);
  const { tokens } = await browser.call(consoleEndpoints.deviceTokens.list, { workspaceId });
  const tokenId = String(tokens[0]?.tokenId);
  await browser.call(consoleEndpoints.deviceTokens.revoke, { workspaceId, tokenId });
  await assert.rejects(call('list_jobs'), /401|TOKEN_REVOKED/);
});
