import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Endpoint, type ErrorCode, endpointList, endpoints } from '@signalbox/contract';
import { OPEN_QUESTIONS_MAX, QUESTIONS_MAX } from '../../src/uncertainties/policy.ts';
import { startApiWorld } from '../support/api-world.ts';
import { fillExample } from '../support/bound-endpoints.ts';
import { ensureRun, question } from '../support/decision-world.ts';
import { exchange, requestOfRow } from '../support/http-exchange.ts';
import { announce, upload } from '../support/upload-setup.ts';

const { contextPacks, jobEvents, jobs, runs, uncertainties, uploads } = endpoints;
const PRIORITY = 7;
const LEASE_MS = 600_000;

/*
 * A hostile tool with the token of its running job. What it says is a claim: the token reports,
 * asks and reads, and never completes, proves, lets a deadline answer, rewrites its run or raises
 * a priority. Each field that a job token may send has its judgement here; the test fails for a new
 * call, or a new field, without one. `policy-matrix-sqlite.test.ts` says which calls are refused.
 */

/**
 * The judgement of a field.
 * - `own`: the job, run or agent of the token; that of another is refused.
 * - `chosen`: it selects or limits what is read, or makes a repetition known.
 * - `claim`: it is kept as what the tool of this job says.
 * - values that are refused with a code, although the agent or a person may send them.
 */
type Judgement = 'own' | 'chosen' | 'claim' | { refused: readonly unknown[]; code: ErrorCode };

const never = (...refused: readonly unknown[]): Judgement => ({ refused, code: 'NOT_ALLOWED' });
const logFields = { jobId: 'own', attempt: 'chosen' } as const;
const runChanges = {
  askOrder: never(null, { personIds: [null], minutes: 5 }),
  status: never('done', 'a status of its own'),
  currentMilestone: 'claim',
  runStatePath: 'claim',
  title: never('Another title'),
  goal: never('Another goal, which selects the context of later jobs'),
  blockedByDecisionRequestId: { refused: ['dec_unknown'], code: 'UNCERTAINTY_NOT_FOUND' },
} as const;
const filters = { kind: 'chosen', repoId: 'chosen', fromAt: 'chosen', untilAt: 'chosen' } as const;
const jobFilters = {
  ...filters,
  runId: 'own',
  agentId: 'chosen',
  mine: 'chosen',
  workEnded: 'chosen',
} as const;
const { fromAt: _fromAt, untilAt: _untilAt, ...decisionFilters } = filters;
const questionFilters: Record<string, Judgement> = {
  ...decisionFilters,
  runId: 'own',
  jobId: 'chosen',
  promoted: 'chosen',
  mine: 'chosen',
} as const;
const page = { limit: 'chosen', cursor: 'chosen' } as const;

const judgements: Record<string, Record<string, Judgement>> = {
  authTokenRevoke: {},
  authTokenWhoami: {},
  workspacesResolve: { slug: 'chosen' },
  jobsList: {
    ...jobFilters,
    ...page,
    status: 'chosen',
    statuses: 'chosen',
    limitPerStatus: 'chosen',
    text: 'chosen',
    view: 'chosen',
    fields: 'chosen',
    logText: never('error'),
  },
  jobsCounts: jobFilters,
  jobsGet: { jobId: 'own' },
  jobsHeartbeat: {
    jobId: 'own',
    agentId: 'own',
    claimGeneration: 'chosen',
    // No longer than the agent's own lease, and not while the agent is silent.
    leaseMs: 'claim',
    message: never('All checks passed.', ''),
    shorten: never(true),
  },
  jobsLog: { ...logFields, fromLine: 'chosen', fromByte: 'chosen', limit: 'chosen' },
  jobsSearchLog: { ...logFields, text: 'chosen', fromLine: 'chosen', limit: 'chosen' },
  jobsDownloadLog: { ...logFields, fromByte: 'chosen', untilByte: 'chosen' },
  jobsActivity: { ...logFields, after: 'chosen', limit: 'chosen' },
  jobsPatch: { jobId: 'own', since: 'chosen' },
  jobEventsListForJob: { jobId: 'own', limit: 'chosen', after: 'chosen' },
  jobEventsAppend: {
    jobId: 'own',
    agentId: 'own',
    claimGeneration: 'chosen',
    // Of the stream tool, with numbers of its own and without activities.
    entries: 'claim',
  },
  runsUpsertV1: {
    ...runChanges,
    repoId: 'chosen',
    idempotencyKey: 'chosen',
    runRef: never('the-run-of-another'),
  },
  runsUpsertV2: { ...runChanges, runId: 'own' },
  runsGet: { runId: 'own' },
  runsOverview: { runId: 'own' },
  runsGraph: { runId: 'own' },
  uncertaintiesCreateWithAutoPromotion: {
    runId: 'own',
    jobId: 'own',
    agentId: 'own',
    claimGeneration: 'chosen',
    idempotencyKey: 'chosen',
    prompt: 'claim',
    kind: 'claim',
    context: 'claim',
    confidence: 'claim',
    impact: 'claim',
    reversibility: 'claim',
    assumedValue: 'claim',
    assumedReasoning: 'claim',
    autoPromoteThreshold: 'claim',
    options: 'claim',
    recommendedValue: 'claim',
    // It shows the question as overdue, and no more.
    deadlineAt: 'claim',
    onDeadline: never('assume'),
    actionKey: never('execute:git push'),
    action: never({ kind: 'execute', words: ['git', 'push'], allow: 'yes' }),
  },
  uncertaintiesGet: { uncertaintyId: 'chosen' },
  uncertaintiesWait: { uncertaintyId: 'chosen', waitMs: 'chosen', peek: 'chosen' },
  uncertaintiesList: { ...questionFilters, ...page, status: 'chosen', view: 'chosen' },
  uncertaintiesCounts: questionFilters,
  contextPacksBuildRunV1: {
    runId: 'own',
    expansionHints: 'chosen',
    tokenBudget: 'chosen',
    idempotencyKey: 'chosen',
    requestedContextItemIds: never(['ctx_that_nobody_gave_to_the_run']),
  },
  contextPacksResolveRunV1: {
    runId: 'own',
    packId: 'chosen',
    expansionHints: 'chosen',
    format: 'chosen',
  },
  uploadsCreate: {
    fileName: 'claim',
    contentType: 'claim',
    sizeBytes: 'claim',
    sha256: 'claim',
    idempotencyKey: 'chosen',
    job: never({ jobId: 'job_of_another', agentId: 'agt_of_another' }),
  },
  uploadsGetDownloadUrl: {
    uploadId: 'chosen',
    jobId: { refused: ['job_of_another'], code: 'UPLOAD_NOT_FOUND' },
  },
  uploadsDelete: { uploadId: 'chosen' },
};

/** The fields of the row's example that say more than a tool may. */
const tamed: Record<string, Record<string, unknown>> = {
  jobsHeartbeat: { message: undefined },
  runsUpsertV1: { status: 'in_progress' },
  runsUpsertV2: { status: 'in_progress' },
  contextPacksBuildRunV1: { requestedContextItemIds: [] },
};

const allowed = endpointList.filter(
  ({ auth, jobToken }) => auth === 'bearer' && jobToken !== 'none',
);

test('of each field of each call that a job token may make, the table says what it may say', () => {
  const expected = allowed.map(({ name, request }) => [
    name,
    Object.keys(request.properties)
      .filter((field) => field !== 'workspaceId')
      .toSorted(),
  ]);
  const judged = Object.entries(judgements).map(([name, fields]) => [
    name,
    Object.keys(fields).toSorted(),
  ]);
  assert.deepEqual(Object.fromEntries(judged), Object.fromEntries(expected));
});

/** A job of the run whose tool is hostile, and a job, run and agent that it must not reach. */
async function startHostile(t: TestContext) {
  const world = await startApiWorld(t, { config: { addressRate: 0 } });
  const { home, call } = world;
  const { workspaceId, repoId } = home;
  const runId = await ensureRun(world);
  const requirements = { labels: { env: 'staging' } };
  const capabilities = { canWrite: true, ...requirements };
  const agentId = await world.addAgent(home, 'staging', capabilities);
  const start = async () => {
    const jobId = await world.enqueue({ runId, priority: PRIORITY, requirements });
    const claim = await call(jobs.claimNext, { workspaceId, agentId, leaseMs: LEASE_MS });
    assert.equal(claim.jobId, jobId);
    return { jobId, jobToken: claim.jobToken ?? '' };
  };
  const job = await start();
  const run = { workspaceId, repoId, runRef: 'the-run-of-another', status: 'in_progress' };
  const knock = async (endpoint: Endpoint, body: Record<string, unknown>): Promise<string> => {
    const request = requestOfRow(endpoint, body);
    const answer = await exchange(world.hub.baseUrl, { ...request, token: job.jobToken });
    return answer.status === 200 ? 'ok' : `${answer.body.error}: ${answer.body.message}`;
  };
  return {
    ...world,
    agentId,
    runId,
    job,
    knock,
    start,
    ref: { workspaceId, jobId: job.jobId },
    holder: { workspaceId, jobId: job.jobId, agentId },
    foreign: {
      jobId: world.held.jobId,
      runId: (await call(runs.upsertV1, run)).runId,
      agentId: await world.addAgent(home, 'the-agent-of-another', capabilities),
    } as Record<string, string>,
  };
}
type Hostile = Awaited<ReturnType<typeof startHostile>>;

/** A body that the hub accepts from the tool, about its own job and run. */
async function bodyOf(h: Hostile, endpoint: Endpoint): Promise<Record<string, unknown>> {
  const body = { ...(await fillExample(h, endpoint, h.job.jobId)), ...tamed[endpoint.name] };
  if (['own-run', 'own-run-or-job'].includes(endpoint.jobToken)) body.runId = h.runId;
  if ('uploadId' in body) {
    body.uploadId = await upload(h, 'text', {}, { ...h.home, token: h.job.jobToken });
  }
  return body;
}

test('a job token is refused each value that only the agent or a person may send', async (t) => {
  const h = await startHostile(t);
  const before = await seen(h);
  for (const endpoint of allowed) {
    const body = await bodyOf(h, endpoint);
    for (const [field, judgement] of Object.entries(judgements[endpoint.name] ?? {})) {
      if (judgement === 'own') {
        const code = await h.knock(endpoint, { ...body, [field]: h.foreign[field] });
        assert.match(code, /^(NOT_ALLOWED|AGENT_NOT_FOUND)/, `${endpoint.name}.${field}`);
      }
      if (typeof judgement === 'string') continue;
      for (const value of judgement.refused) {
        const code = await h.knock(endpoint, { ...body, [field]: value });
        const what = `${endpoint.name}.${field} = ${JSON.stringify(value)}`;
        assert.ok(code.startsWith(judgement.code), `${what}: ${code}`);
      }
    }
    // It ends with the lease, and not before.
    if (endpoint === endpoints.tokens.revoke) continue;
    assert.equal(await h.knock(endpoint, body), 'ok', `${endpoint.name} itself is allowed`);
  }
  assert.deepEqual(await seen(h), before);
});

/** The job and its run as a person sees them, but for what the tool may say. */
async function seen(h: Hostile): Promise<unknown> {
  const { workspaceId } = h.home;
  const { job } = await h.call(jobs.get, { workspaceId, jobId: h.job.jobId });
  const { run } = await h.call(runs.get, { workspaceId, runId: h.runId });
  const { status, outcome, evidence, verdict, priority, attempt, maxAttempts, requirements } = job;
  const { title, goal, blockedByDecisionRequestId } = run;
  return {
    job: { status, outcome, evidence, verdict, priority, attempt, maxAttempts, requirements },
    run: { status: run.status, title, goal, blockedByDecisionRequestId },
  };
}

/** Rows of the page that the hub keeps, each with a try that must not succeed. */
const tries: Record<string, (h: Hostile) => Promise<void>> = {
  async '`jobs/complete`'(h) {
    const evidence = {
      commitSha: 'f'.repeat(40),
      verdict: 'verified',
      pushedTo: 'origin',
      checks: [
        { name: 'test', command: 'npm test', outcome: 'passed', exitCode: 0, durationMs: 1 },
      ],
    };
    const body = { ...h.holder, outcome: 'done', evidence };
    assert.match(await h.knock(jobs.complete, body), /^NOT_ALLOWED/);
    const outcomeReason = { retryable: true, spendsAttempt: false };
    const retried = { ...h.holder, outcome: 'failed', outcomeReason };
    assert.match(await h.knock(jobs.complete, retried), /^NOT_ALLOWED/);
    const { job } = await h.call(jobs.get, h.ref);
    assert.deepEqual([job.status, job.verdict, job.maxAttempts], ['running', null, 5]);
  },
  async '`jobs/heartbeat`'(h) {
    const { jobId } = await h.start();
    await h.call(jobs.cancel, { ...h.ref, jobId });
    const renew = async (leaseMs: number, token?: string) => {
      const answer = await h.call(jobs.heartbeat, { ...h.holder, leaseMs }, token);
      const endsInMs = Date.parse(answer.leaseExpiresAt) - h.clock.nowMs();
      return { commands: answer.commands, endsInMs };
    };
    const { jobToken } = h.job;
    assert.deepEqual(await renew(1_000, jobToken), { commands: [], endsInMs: LEASE_MS });
    h.clock.advance(1_000);
    assert.deepEqual(await renew(86_400_000, jobToken), { commands: [], endsInMs: LEASE_MS });
    const { commands } = await renew(LEASE_MS);
    assert.deepEqual(commands, [{ command: 'cancel-job', jobId }], 'the agent gets them');
  },
  async '`job-events/append`'(h) {
    const activity = { toolCall: { id: '1', kind: 'execute', title: 'npm test', status: 'done' } };
    const entry = { logSeq: 1, message: 'All passed.', stream: 'agent' as const, activity };
    const body = { ...h.holder, entries: [entry] };
    assert.equal(await h.knock(jobEvents.append, body), 'ok');
    const { events } = await h.call(jobEvents.listForJob, h.ref);
    assert.deepEqual(events.at(-1)?.data, { stream: 'tool', logSeq: 1 });
  },
  async 'a question'(h) {
    const { workspaceId } = h.home;
    const ask = (more: Record<string, unknown> = {}) =>
      h.knock(uncertainties.createWithAutoPromotion, { workspaceId, ...question, ...more });
    assert.match(await ask({ onDeadline: 'assume' }), /^NOT_ALLOWED: .*only people answer/);
    for (let count = 0; count < OPEN_QUESTIONS_MAX; count++) assert.equal(await ask(), 'ok');
    assert.match(await ask(), /^LIMIT_REACHED: .*50 open questions/);
    assert.match(await ask({ runId: h.runId }), /^LIMIT_REACHED/);
    const page = await h.call(uncertainties.list, { workspaceId, status: 'open', limit: 200 });
    const askers = page.uncertainties.map(({ jobId }) => jobId);
    assert.deepEqual(askers, Array(OPEN_QUESTIONS_MAX).fill(h.job.jobId));
    // Uncertainties that are only recorded have a bound as well.
    const [first] = page.uncertainties;
    await h.call(uncertainties.addResolution, {
      workspaceId,
      uncertaintyId: first?.uncertaintyId ?? '',
      mode: 'dismissed',
      value: '',
      confidence: 1,
    });
    await copyResolved(h, QUESTIONS_MAX - OPEN_QUESTIONS_MAX - 1);
    assert.equal(await ask({ confidence: 1 }), 'ok');
    assert.match(await ask({ confidence: 1 }), /^LIMIT_REACHED: .*uncertainties/);
  },
  async 'an answer'(h) {
    const { workspaceId } = h.home;
    const body = { workspaceId, ...question };
    const create = uncertainties.createWithAutoPromotion;
    const { uncertaintyId } = await h.call(create, body, h.job.jobToken);
    const ref = { workspaceId, uncertaintyId };
    const answer = { ...ref, mode: 'answered', value: 'yes', confidence: 1 };
    const claim = { jobId: h.job.jobId, agentId: h.agentId, claimGeneration: 1 };
    for (const [endpoint, call] of [
      [uncertainties.addResolution, answer],
      [uncertainties.withdrawResolution, { ...ref, resolutionId: 'res_any' }],
      [uncertainties.promote, ref],
      [uncertainties.takeAnswer, { ...ref, ...claim }],
    ] as const) {
      assert.match(await h.knock(endpoint, call), /^NOT_ALLOWED/, endpoint.name);
    }
    const { uncertainty } = await h.call(uncertainties.get, ref);
    assert.equal(uncertainty.status, 'open');
  },
  async 'the job that applies an answer'(h) {
    const { workspaceId } = h.home;
    const create = uncertainties.createWithAutoPromotion;
    // It does not name its job.
    const body = { workspaceId, runId: h.runId, ...question };
    const { uncertaintyId } = await h.call(create, body, h.job.jobToken);
    await h.call(jobs.complete, { ...h.holder, outcome: 'done' });
    await h.call(uncertainties.addResolution, {
      workspaceId,
      uncertaintyId,
      mode: 'answered',
      value: 'yes',
      confidence: 1,
    });
    const list = await h.call(jobs.list, { workspaceId, kind: 'apply_decision' });
    assert.deepEqual(
      list.jobs.map(({ parentJobId, priority }) => [parentJobId, priority]),
      [[h.job.jobId, 0]],
    );
  },
  async 'its run'(h) {
    const { workspaceId, repoId } = h.home;
    const { run } = await h.call(runs.get, { workspaceId, runId: h.runId });
    const byRef = { workspaceId, repoId, runRef: run.runRef };
    const said = { currentMilestone: 'tests', runStatePath: '.runs/a.json' };
    for (const [endpoint, place] of [
      [runs.upsertV1, byRef],
      [runs.upsertV2, { workspaceId, runId: h.runId }],
    ] as const) {
      for (const more of [{ status: 'done' }, { goal: 'Mine.' }, { title: 'Mine.' }]) {
        const body = { ...place, status: run.status, ...said, ...more };
        assert.match(await h.knock(endpoint, body), /^NOT_ALLOWED: .*only currentMilestone/);
      }
      const body = { ...place, ...said, status: run.status, blockedByDecisionRequestId: null };
      assert.equal(await h.knock(endpoint, body), 'ok');
    }
    const { decisionRequestId } = await h.call(
      uncertainties.createWithAutoPromotion,
      { workspaceId, ...question },
      h.job.jobToken,
    );
    const blocked = { status: run.status, blockedByDecisionRequestId: decisionRequestId };
    assert.match(await h.knock(runs.upsertV1, { ...byRef, ...blocked }), /^NOT_ALLOWED/);
    const { run: after } = await h.call(runs.get, { workspaceId, runId: h.runId });
    assert.deepEqual(after, { ...run, ...said });
  },
  // The agent passes on what the tool has told. `child-limits.test.ts` has the rules one by one.
  async children(h) {
    const child = { kind: 'work' as const, prompt: 'Deploy.', priority: 1_000, maxAttempts: 100 };
    const requirements = { labels: { env: 'production' }, mode: 'bypassPermissions' };
    const children = [{ ...child, requirements }];
    const { result } = await h.call(jobs.complete, { ...h.holder, outcome: 'done', children });
    const { job } = await h.call(jobs.get, { ...h.ref, jobId: result.spawnedJobIds[0] ?? '' });
    assert.deepEqual(
      [job.priority, job.maxAttempts, job.requirements],
      [PRIORITY, 5, { labels: { env: 'staging' } }],
    );
  },
  async uploads(h) {
    const { workspaceId } = h.home;
    const claim = { jobId: h.job.jobId, agentId: h.agentId };
    const ofAgent = await announce(h, 1, { job: claim });
    const asTool = { ...h.home, token: h.job.jobToken };
    const ofTool = await announce(h, 1, {}, asTool);
    const remove = (uploadId: string) => h.knock(uploads.delete, { workspaceId, uploadId });
    assert.match(await remove(ofAgent.uploadId), /^UPLOAD_NOT_FOUND/);
    assert.equal(await remove(ofTool.uploadId), 'ok');
  },
  async 'a context pack'(h) {
    const { workspaceId } = h.home;
    const build = { workspaceId, runId: h.runId };
    assert.equal(await h.knock(contextPacks.buildRunV1, { ...build, tokenBudget: 1 }), 'ok');
    const again = await h.knock(contextPacks.buildRunV1, { ...build, tokenBudget: 1 });
    assert.match(again, /^NOT_ALLOWED: The run has a context pack/);
  },
  async 'what it reads'(h) {
    const { workspaceId } = h.home;
    for (const [endpoint, body] of [
      [jobs.get, { workspaceId, jobId: h.foreign.jobId }],
      [jobs.list, { workspaceId }],
      [runs.get, { workspaceId, runId: h.foreign.runId }],
      [endpoints.contextItems.list, { workspaceId }],
    ] as const) {
      assert.match(await h.knock(endpoint, body), /^NOT_ALLOWED/, endpoint.name);
    }
  },
  async 'every other call'(h) {
    for (const endpoint of endpointList) {
      if (endpoint.auth !== 'bearer' || endpoint.jobToken !== 'none') continue;
      const body = await fillExample(h, endpoint, h.job.jobId);
      assert.match(await h.knock(endpoint, body), /^NOT_ALLOWED/, endpoint.name);
    }
  },
};

/** Copies a resolved uncertainty of the job, as if its tool had recorded as many. */
function copyResolved(h: Hostile, count: number): Promise<void> {
  return h.hub.database.write(h.home.workspaceId, async (tx) => {
    const row = await tx.firstSql<Record<string, string | number | null>>(
      "SELECT * FROM uncertainties WHERE job_id = ? AND status = 'resolved'",
      [h.job.jobId],
    );
    for (let number = 0; number < count; number++) {
      const copy = { ...row, uncertainty_id: `unc_${number}`, decision_request_id: null };
      await tx.runSql(
        `INSERT INTO uncertainties (${Object.keys(copy).join(', ')})
         VALUES (${Object.keys(copy)
           .map(() => '?')
           .join(', ')})`,
        Object.values(copy),
      );
    }
  });
}

const pagePath = join(import.meta.dirname, '../../../../docs/operate/security.md');
const [, section = ''] = readFileSync(pagePath, 'utf8').split('## What is believed of a tool');
/** The first cell of each row of the page's table that the hub keeps. */
const rows = (section.split('\n## ')[0] ?? '')
  .split('\n')
  .filter((line) => line.endsWith('| hub |'))
  .map((line) => line.split('|')[1]?.trim() ?? '');

test('each row of the page that the hub keeps is tried', () => {
  const tried = rows.map((row) => Object.keys(tries).find((what) => row.startsWith(what)));
  assert.deepEqual(tried, Object.keys(tries), rows.join('\n'));
});

for (const [what, attempt] of Object.entries(tries)) {
  test(`a hostile tool gains nothing by ${what}`, async (t) => attempt(await startHostile(t)));
}
