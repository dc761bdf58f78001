import assert from 'node:assert/strict';
import { rowsOf } from './row.ts';
import { type Body, paths, type SpecClient } from './spec-client.ts';

const uncertaintyKinds = ['missing_fact', 'choice', 'constraint', 'approval', 'config', 'risk'];

async function startRun(spec: SpecClient): Promise<{ repoId: string; runId: string }> {
  const repoId = await spec.addRepository();
  const { runId } = await spec.ok(paths.upsertRunV1, runFields(spec, repoId));
  return { repoId, runId };
}

/** All fields of a v1 upsert of a run. */
function runFields({ workspaceId }: SpecClient, repoId: string): Body {
  return {
    workspaceId,
    repoId,
    runRef: 'health-check',
    status: 'in_progress',
    currentMilestone: 'implementation',
    runStatePath: '.runs/health-check.json',
  };
}

/** All fields of a question that the specification does not mark as optional. */
function askFields({ workspaceId }: SpecClient, runId: string): Body {
  return {
    workspaceId,
    runId,
    prompt: 'May the health check report the version?',
    kind: 'approval',
    context: 'The endpoint is public.',
    confidence: 0.4,
    impact: 'medium',
    reversibility: 'easy',
    assumedValue: 'no',
    assumedReasoning: 'It can be added later.',
    autoPromoteThreshold: 0.7,
  };
}

/** All fields of an answer that the specification does not mark as optional. */
function answerFields({ workspaceId }: SpecClient, uncertaintyId: string): Body {
  return { workspaceId, uncertaintyId, mode: 'answered', value: 'yes', confidence: 0.9 };
}

export const decisionServiceRows = rowsOf('What the service does', [
  [
    'service-decisions-1',
    'Create and resolve decision requests ("uncertainties"), which agents use to ask humans for ' +
      'input; upsert runs (goals).',
    async (spec) => {
      const { runId } = await startRun(spec);
      const { uncertaintyId } = await spec.ok(paths.ask, askFields(spec, runId));
      await spec.ok(paths.addResolution, answerFields(spec, uncertaintyId));
    },
  ],
]);

export const decisionResourceRows = rowsOf('Resources and their fields', [
  [
    'resources-decisions-1',
    `Uncertainty: kind is one of ${uncertaintyKinds.join(', ')}.`,
    async (spec) => {
      const { runId } = await startRun(spec);
      for (const kind of uncertaintyKinds) {
        await spec.ok(paths.ask, { ...askFields(spec, runId), kind });
      }
      await spec.fail(paths.ask, { ...askFields(spec, runId), kind: 'doubt' }, 400);
    },
  ],
  [
    'resources-decisions-2',
    'Uncertainty: jobId is optional; confidence is a number on the scale of autoPromoteThreshold.',
    async (spec) => {
      const { repoId, runId } = await startRun(spec);
      const jobId = await spec.addJob(repoId, { runId });
      await spec.ok(paths.ask, { ...askFields(spec, runId), jobId });
      await spec.fail(paths.ask, { ...askFields(spec, runId), confidence: 'low' }, 400);
    },
  ],
  [
    'resources-decisions-3',
    'Resolution: mode (answered is shown), value, commitSha optional, confidence, createdByJobId ' +
      'optional.',
    async (spec) => {
      const { repoId, runId } = await startRun(spec);
      const { uncertaintyId } = await spec.ok(paths.ask, askFields(spec, runId));
      const createdByJobId = await spec.addJob(repoId);
      const optional = { commitSha: 'abc123', createdByJobId };
      const body: Body = { ...answerFields(spec, uncertaintyId), ...optional };
      const { uncertainty } = await spec.ok(paths.addResolution, body);
      const { mode, value, confidence } = body;
      assert.partialDeepStrictEqual(uncertainty.resolution, {
        ...optional,
        mode,
        value,
        confidence,
      });
    },
  ],
  [
    'resources-decisions-4',
    'Uncertainty: decisionRequestId is returned on creation; promoted is true when auto-promoted ' +
      'to a decision request visible in the inbox.',
    async (spec) => {
      const { runId } = await startRun(spec);
      const asked = await spec.ok(paths.ask, askFields(spec, runId));
      assert.equal(asked.promoted, true);
      const inbox = { workspaceId: spec.workspaceId, status: 'open' };
      const { uncertainties } = await spec.ok('/control-plane/v1/uncertainties/list', inbox);
      assert.partialDeepStrictEqual(uncertainties, [
        { uncertaintyId: asked.uncertaintyId, decisionRequestId: asked.decisionRequestId },
      ]);
    },
  ],
  [
    'resources-decisions-5',
    'Uncertainty: prompt is the question, context the background, impact and reversibility are ' +
      'descriptive levels; assumedValue and assumedReasoning are strings.',
    async (spec) => {
      const { runId } = await startRun(spec);
      const fields = askFields(spec, runId);
      fields.impact = 'more than it looks';
      const { uncertaintyId } = await spec.ok(paths.ask, fields);
      const ref = { workspaceId: spec.workspaceId, uncertaintyId };
      const { uncertainty } = await spec.ok('/control-plane/v1/uncertainties/get', ref);
      assert.partialDeepStrictEqual(uncertainty, fields);
      for (const name of ['prompt', 'context', 'impact', 'reversibility', 'assumedValue']) {
        await spec.fail(paths.ask, { ...fields, [name]: 1 }, 400);
      }
    },
  ],
  [
    'resources-runs-1',
    'Run: runRef is chosen by the caller; status in_progress and done, currentMilestone ' +
      'implementation and complete are shown; runStatePath is relative to the repository.',
    async (spec) => {
      const repoId = await spec.addRepository();
      const fields = runFields(spec, repoId);
      const { run, runId } = await spec.ok(paths.upsertRunV1, fields);
      assert.partialDeepStrictEqual(run, fields);
      const done = { status: 'done', currentMilestone: 'complete' };
      const { workspaceId } = spec;
      const after = await spec.ok(paths.upsertRunV2, { workspaceId, runId, ...done });
      assert.partialDeepStrictEqual(after.run, { ...fields, ...done });
    },
  ],
]);

export const decisionStateRows = rowsOf('States and transitions', [
  [
    'states-decisions-1',
    'When an uncertainty meets the auto-promotion criteria (its confidence relative to ' +
      'autoPromoteThreshold), it is promoted to a decision request visible in the inbox, and the ' +
      'response has promoted: true.',
    async (spec) => {
      const { runId } = await startRun(spec);
      const low = await spec.ok(paths.ask, askFields(spec, runId));
      assert.equal(low.promoted, true);
      assert.equal(typeof low.decisionRequestId, 'string');
      const high = await spec.ok(paths.ask, { ...askFields(spec, runId), confidence: 0.9 });
      assert.equal(high.promoted, false);
    },
  ],
  [
    'states-decisions-2',
    'Uncertainty: created unpromoted or promoted (promoted flag).',
    async (spec) => {
      const { runId } = await startRun(spec);
      for (const [confidence, promoted] of [
        [0.69, true],
        [0.7, false],
        [1, false],
      ]) {
        const asked = await spec.ok(paths.ask, { ...askFields(spec, runId), confidence });
        assert.equal(asked.promoted, promoted, `${confidence} against 0.7`);
      }
    },
  ],
]);

export const decisionEndpointRows = rowsOf('Endpoints', [
  [
    'endpoints-decisions-1',
    'POST /control-plane/v1/uncertainties/create-with-auto-promotion answers ok, uncertaintyId, ' +
      'decisionRequestId, promoted.',
    async (spec) => {
      const { runId } = await startRun(spec);
      const answer = await spec.ok(paths.ask, askFields(spec, runId));
      const names = ['ok', 'uncertaintyId', 'decisionRequestId', 'promoted'];
      assert.deepEqual(Object.keys(answer), names);
    },
  ],
  [
    'endpoints-decisions-2',
    'POST /control-plane/v1/uncertainties/add-resolution: workspaceId, uncertaintyId, mode, value, ' +
      'commitSha optional, confidence, createdByJobId optional.',
    async (spec) => {
      const { runId } = await startRun(spec);
      const { uncertaintyId } = await spec.ok(paths.ask, askFields(spec, runId));
      const body = answerFields(spec, uncertaintyId);
      assert.equal((await spec.ok(paths.addResolution, body)).uncertainty.status, 'resolved');
      await spec.fail(paths.addResolution, answerFields(spec, 'nothing'), 400);
    },
  ],
  [
    'endpoints-runs-1',
    'POST /control-plane/v1/runs/upsert creates or updates, resolving the run by workspace, ' +
      'repository and run reference.',
    async (spec) => {
      const fields = runFields(spec, await spec.addRepository());
      const { runId } = await spec.ok(paths.upsertRunV1, fields);
      const again = await spec.ok(paths.upsertRunV1, { ...fields, status: 'done' });
      assert.deepEqual([again.runId, again.run.status], [runId, 'done']);
      const repoId = await spec.addRepository('acme/web');
      const other = await spec.ok(paths.upsertRunV1, { ...fields, repoId });
      assert.notEqual(other.runId, runId);
    },
  ],
  [
    'endpoints-runs-2',
    'POST /control-plane/v2/runs/upsert: workspaceId, runId, status, currentMilestone; updates the ' +
      'run identified by runId.',
    async (spec) => {
      const { runId } = await startRun(spec);
      const body = { workspaceId: spec.workspaceId, status: 'done', currentMilestone: 'complete' };
      const { run } = await spec.ok(paths.upsertRunV2, { ...body, runId });
      assert.deepEqual([run.runId, run.status, run.currentMilestone], [runId, 'done', 'complete']);
      await spec.fail(paths.upsertRunV2, { ...body, runId: 'nothing' }, 400);
    },
  ],
]);

export const decisionVersionRows = rowsOf('Versioning', [
  [
    'versions-runs-1',
    'Version 1 and version 2 of run upsert coexist: v1 resolves the run by workspace, repository ' +
      'and run reference; v2 takes runId directly and updates.',
    async (spec) => {
      const { repoId, runId } = await startRun(spec);
      const { workspaceId } = spec;
      await spec.ok(paths.upsertRunV2, { workspaceId, runId, status: 'done' });
      const { run } = await spec.ok(paths.upsertRunV1, {
        workspaceId,
        repoId,
        runRef: 'health-check',
        status: 'in_progress',
      });
      assert.deepEqual([run.runId, run.status], [runId, 'in_progress']);
    },
  ],
]);
