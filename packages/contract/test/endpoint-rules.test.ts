import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  consoleEndpointList,
  type Endpoint,
  endpointList,
  jobTokenRules,
  mirroredEndpointList,
} from '../src/index.ts';

const rows = [...endpointList, ...consoleEndpointList];

const keyOf = ({ repeat }: Endpoint) => (typeof repeat === 'string' ? repeat : repeat.withKey);
const namesWhere = (list: readonly Endpoint[], holds: (row: Endpoint) => boolean) =>
  list.filter(holds).map(({ name }) => name);
const takes = (row: Endpoint, field: string) => field in row.request.properties;
const requires = (row: Endpoint, field: string) => row.request.required?.includes(field) ?? false;

describe('what a row says of repetition', () => {
  // Repeating a call that is not listed here acts at most once. Adding a row to a list is a
  // decision about lost answers, so the lists are written out.
  it('lists the calls that are never repeated, and those that need a key', () => {
    const listed = (word: string) => namesWhere(endpointList, (row) => keyOf(row) === word);
    assert.deepEqual(listed('once'), ['jobsRetry', 'jobsRelease', 'integrationEventsReplay']);
    assert.deepEqual(listed('claimKey'), ['jobsClaimNext', 'cloudAiJobsClaimNext']);
    assert.deepEqual(listed('idempotencyKey'), [
      'jobsEnqueue',
      'uncertaintiesCreateWithAutoPromotion',
      'uncertaintiesAddResolution',
      'cloudAiJobsEnqueue',
      'contextPacksBuildRunV1',
      'uploadsCreate',
    ]);
  });

  for (const row of rows) {
    it(`is coherent: ${row.name}`, () => {
      const { repeat, method } = row;
      if (method === 'GET') assert.equal(repeat, 'safe');
      if (typeof repeat === 'object') {
        assert.ok(takes(row, repeat.withKey), `${repeat.withKey} is a field of the request`);
        // A required key would make the call safe as it is.
        assert.ok(!requires(row, repeat.withKey), `${repeat.withKey} is optional`);
      }
      if (repeat === 'once') {
        assert.ok(!takes(row, 'idempotencyKey') && !takes(row, 'claimKey'), 'it has no key');
      }
      if (/\/(list|get|whoami|search|wait)$/.test(row.path)) {
        assert.equal(repeat, 'safe', 'reading twice is reading once');
      }
    });
  }
});

describe('what a row says of job tokens', () => {
  it('is used, word by word', () => {
    const used = new Set(rows.map(({ jobToken }) => jobToken));
    assert.deepEqual(
      [...jobTokenRules].filter((rule) => !used.has(rule)),
      [],
    );
  });

  for (const row of rows) {
    it(`can be judged by the request: ${row.name}`, () => {
      const { jobToken } = row;
      if (jobToken !== 'none') assert.equal(row.auth, 'bearer');
      if (jobToken === 'own-job') assert.ok(requires(row, 'jobId'));
      if (jobToken === 'own-run') assert.ok(takes(row, 'runId'));
      if (jobToken === 'own-run-and-job') assert.ok(requires(row, 'runId') && takes(row, 'jobId'));
      if (jobToken === 'own-run-by-reference') assert.ok(requires(row, 'runRef'));
    });
  }

  it('never lets one answer or promote a question, enqueue, claim, or steer the queue', () => {
    const names = namesWhere(endpointList, ({ jobToken }) => jobToken !== 'none');
    for (const name of [
      'uncertaintiesAddResolution',
      'uncertaintiesPromote',
      'jobsEnqueue',
      'jobsClaimNext',
      'jobsCancel',
      'jobsRetry',
      'jobsRelease',
      'queuePause',
      'queueResume',
      'cloudAiJobsClaimNext',
      'contextItemsUpsert',
    ]) {
      assert.ok(!names.includes(name), name);
    }
  });
});

describe('what a row says of the console', () => {
  it('mirrors bearer endpoints of the control plane only, and all that say so', () => {
    assert.deepEqual(
      mirroredEndpointList,
      endpointList.filter((row) => row.console),
    );
    for (const row of mirroredEndpointList) assert.equal(row.auth, 'bearer', row.name);
    assert.ok(mirroredEndpointList.length > 20);
  });

  it("is true for every row of the console's own", () => {
    assert.deepEqual(
      namesWhere(consoleEndpointList, (row) => !row.console),
      [],
    );
  });
});
