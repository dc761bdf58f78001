import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { runScenarios } from '../support/api-scenario.ts';
import type { World } from '../support/api-world.ts';
import {
  ensureRun,
  openDecision,
  question,
  startDecisionWorld,
} from '../support/decision-world.ts';

const { uncertainties, runs } = endpoints;
const create = uncertainties.createWithAutoPromotion;

type Fields = Record<string, unknown>;
const draft =
  (fields: Fields = {}) =>
  async (world: World) => ({
    workspaceId: world.home.workspaceId,
    runId: await ensureRun(world),
    ...question,
    ...fields,
  });
/** About an open decision request, made for the scenario. */
const about =
  (fields: Fields = {}) =>
  async (world: World) => ({
    workspaceId: world.home.workspaceId,
    uncertaintyId: await openDecision(world, await ensureRun(world)),
    ...fields,
  });
const answer = (fields: Fields = {}) =>
  about({ mode: 'answered', value: 'blue', confidence: 1, ...fields });
const inHome =
  (fields: Fields = {}) =>
  ({ home }: World) => ({ workspaceId: home.workspaceId, ...fields });

runScenarios('uncertainties/create-with-auto-promotion', [
  ...[
    [0.2, 0.7, true],
    [0.7, 0.7, false],
    [0.6999, 0.7, true],
    [0, 0, false],
    [1, 1, false],
    [0.3, 0.1 + 0.2, true],
  ].map(([confidence, autoPromoteThreshold, promoted]) => ({
    name: `${promoted ? 'promotes' : 'does not promote'} at ${confidence} of ${autoPromoteThreshold}`,
    endpoint: create,
    credential: 'agentOnly' as const,
    body: draft({ confidence, autoPromoteThreshold }),
    expect: {
      body: { promoted },
      check(body: Fields) {
        assert.match(String(body.uncertaintyId), /^unc_/);
        assert.match(String(body.decisionRequestId), promoted ? /^dec_/ : /^null$/);
      },
    },
  })),
  {
    name: 'promotes below 0.7 when no threshold is sent',
    endpoint: create,
    credential: 'enqueueOnly',
    body: draft({ confidence: 0.69 }),
    expect: { body: { promoted: true } },
  },
  ...[
    { what: 'a confidence above one', field: 'confidence', value: 1.01 },
    { what: 'a confidence that is text', field: 'confidence', value: '0.2' },
    { what: 'a negative threshold', field: 'autoPromoteThreshold', value: -0.1 },
    { what: 'an empty question', field: 'prompt', value: '' },
    { what: 'an unknown kind', field: 'kind', value: 'doubt' },
    { what: 'a deadline that is not a timestamp', field: 'deadlineAt', value: 'tomorrow' },
    { what: 'an unknown action at the deadline', field: 'onDeadline', value: 'panic' },
    { what: 'an option without a value', field: 'options', value: [{ label: 'Yes' }] },
  ].map(({ what, field, value }) => ({
    name: `refuses ${what}`,
    endpoint: create,
    body: draft({ [field]: value }),
    expect: { error: 'INVALID_REQUEST' as const, contains: [`/${field}`] },
  })),
  {
    name: 'refuses a job of another run',
    endpoint: create,
    async body(world) {
      const { workspaceId, repoId } = world.home;
      const other = { workspaceId, repoId, runRef: 'other', status: 'planned' };
      const { runId } = await world.call(runs.upsertV1, other);
      return draft({ jobId: await world.enqueue({ runId }) })(world);
    },
    expect: { error: 'INVALID_REQUEST', contains: ['/jobId'] },
  },
]);

runScenarios('uncertainties/add-resolution and promote', [
  {
    name: 'add-resolution answers and names the person',
    endpoint: uncertainties.addResolution,
    credential: 'decideOnly',
    body: answer({ commitSha: 'abc123' }),
    expect: {
      body: {
        uncertainty: {
          status: 'resolved',
          resolution: { mode: 'answered', value: 'blue', commitSha: 'abc123', confidence: 1 },
        },
      },
      contains: ['"createdBy":"decide-only"'],
    },
  },
  {
    name: 'add-resolution dismisses without a value',
    endpoint: uncertainties.addResolution,
    body: answer({ mode: 'dismissed', value: '' }),
    expect: { body: { uncertainty: { resolution: { mode: 'dismissed', value: '' } } } },
  },
  {
    name: 'add-resolution names the job that found the answer',
    endpoint: uncertainties.addResolution,
    body: async (world) => answer({ createdByJobId: world.held.jobId })(world),
    expect: {
      body: ({ held }) => ({ uncertainty: { resolution: { createdByJobId: held.jobId } } }),
    },
  },
  {
    name: 'add-resolution refuses an unknown mode',
    endpoint: uncertainties.addResolution,
    body: answer({ mode: 'guessed' }),
    expect: { error: 'INVALID_REQUEST', contains: ['/mode'] },
  },
  {
    name: 'add-resolution refuses a request without a value',
    endpoint: uncertainties.addResolution,
    body: answer({ value: undefined }),
    expect: { error: 'INVALID_REQUEST', contains: ['/value'] },
  },
  {
    name: 'promote returns an already promoted request unchanged',
    endpoint: uncertainties.promote,
    body: about(),
    expect: { body: { uncertainty: { status: 'open', promoted: true } } },
  },
]);

runScenarios('uncertainties/get, list and wait', [
  {
    name: 'get reads all fields of a decision request',
    endpoint: uncertainties.get,
    credential: 'viewer',
    body: about(),
    expect: {
      body: {
        uncertainty: {
          ...question,
          status: 'open',
          resolution: null,
          resolutions: [],
          options: [],
        },
      },
    },
  },
  {
    name: 'get gives a job token the same answer for an unknown id',
    endpoint: uncertainties.get,
    credential: 'otherJob',
    body: inHome({ uncertaintyId: 'unc_none' }),
    expect: { error: 'NOT_ALLOWED' },
  },
  {
    name: 'list shows only the inbox of the workspace',
    endpoint: uncertainties.list,
    credential: 'decideOnly',
    body: inHome({ status: 'open' }),
    expect: { absent: ({ other }) => [other.uncertaintyId], body: { nextCursor: null } },
  },
  {
    name: 'list refuses an unknown status',
    endpoint: uncertainties.list,
    body: inHome({ status: 'lost' }),
    expect: { error: 'INVALID_REQUEST', contains: ['assumed, open, resolved'] },
  },
  {
    name: 'wait refuses to wait for longer than a minute',
    endpoint: uncertainties.wait,
    body: about({ waitMs: 60_001 }),
    expect: { error: 'INVALID_REQUEST', contains: ['/waitMs'] },
  },
  {
    name: 'wait refuses an unknown id at once',
    endpoint: uncertainties.wait,
    body: inHome({ uncertaintyId: 'unc_none', waitMs: 60_000 }),
    expect: { error: 'UNCERTAINTY_NOT_FOUND' },
  },
]);

test('an unpromoted uncertainty keeps its assumed value until a person promotes or overrules it', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const asked = { confidence: 0.9, assumedValue: 'red' };
  const { uncertaintyId: stands } = await h.ask(asked);
  assert.partialDeepStrictEqual(await h.read(stands), {
    status: 'assumed',
    promoted: false,
    decisionRequestId: null,
    resolution: null,
  });
  const promoted = await h.call(uncertainties.promote, { workspaceId, uncertaintyId: stands });
  assert.equal(promoted.uncertainty.status, 'open');
  assert.equal(promoted.uncertainty.decisionRequestId, promoted.decisionRequestId);
  const { uncertaintyId: confirmed } = await h.ask(asked);
  await h.answer(confirmed, { value: 'red' });
  assert.deepEqual(await h.applications(), [], 'a value that is already assumed needs no job');
  await h.refuse(
    uncertainties.promote,
    { workspaceId, uncertaintyId: confirmed },
    'ALREADY_RESOLVED',
  );
  const { uncertaintyId: overruled } = await h.ask(asked);
  await h.answer(overruled, { value: 'blue' });
  assert.equal((await h.applications()).length, 1);
});

test('uncertainties are listed newest first, in pages, with any filter', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId: a } = await h.ask({ jobId });
  const { uncertaintyId: b } = await h.ask({ confidence: 1, kind: 'risk' });
  const { uncertaintyId: c } = await h.ask();
  await h.answer(c);
  const list = async (fields: Fields = {}) => {
    const page = await h.call(uncertainties.list, { workspaceId: h.workspaceId, ...fields });
    return { ids: page.uncertainties.map((each) => each.uncertaintyId), next: page.nextCursor };
  };
  const first = await list({ limit: 2 });
  assert.deepEqual(first.ids, [c, b]);
  assert.deepEqual(await list({ cursor: first.next }), { ids: [a], next: null });
  assert.deepEqual((await list({ status: 'open' })).ids, [a]);
  assert.deepEqual((await list({ kind: 'risk' })).ids, [b]);
  assert.deepEqual((await list({ jobId })).ids, [a]);
  assert.deepEqual((await list({ runId: h.runId, promoted: true })).ids, [c, a]);
  assert.deepEqual((await list({ promoted: false })).ids, [b]);
  const { uncertainties: shown } = await h.call(uncertainties.list, {
    workspaceId: h.workspaceId,
    status: 'resolved',
  });
  assert.equal(shown[0]?.resolution?.value, 'blue');
});

test('a job token creates and reads only uncertainties of its run', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId, runId } = h;
  const { jobId, jobToken } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId }, jobToken);
  const { uncertaintyId: second } = await h.ask({}, jobToken);
  for (const id of [uncertaintyId, second]) {
    await h.call(uncertainties.get, { workspaceId, uncertaintyId: id }, jobToken);
  }
  await h.call(uncertainties.list, { workspaceId, runId }, jobToken);
  await h.refuse(uncertainties.list, { workspaceId }, 'NOT_ALLOWED', jobToken);
  const stranger = await h.enqueue();
  const asked = { workspaceId, runId, ...question };
  await h.refuse(create, { ...asked, jobId: stranger.jobId }, 'NOT_ALLOWED', jobToken);
  const { run } = await h.call(runs.get, { workspaceId, runId }, jobToken);
  const { repoId } = h;
  const write = { workspaceId, repoId, runRef: run.runRef, status: run.status };
  assert.equal((await h.call(runs.upsertV1, write, jobToken)).created, false);
  await h.refuse(runs.upsertV1, { ...write, runRef: 'mine' }, 'NOT_ALLOWED', jobToken);
  await h.complete(jobId);
});

test('the audit log has promotions and resolutions, with their actors', async (t) => {
  const h = await startDecisionWorld(t);
  const { uncertaintyId } = await h.ask({ confidence: 1 });
  await h.call(uncertainties.promote, { workspaceId: h.workspaceId, uncertaintyId });
  await h.answer(uncertaintyId);
  const rows = await h.hub.database.reader.allSql<{ action: string; actor: string }>(
    'SELECT action, actor FROM audit_entries WHERE workspace_id = ? AND subject = ? ORDER BY seq',
    [h.workspaceId, uncertaintyId],
  );
  assert.deepEqual(
    rows.map(({ action, actor }) => [action, actor]),
    [
      ['uncertainty.promote', 'service:test'],
      ['uncertainty.resolve', 'service:test'],
    ],
  );
});
