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

describe('the field repeat', () => {
  // All other calls are safe. The lists are written out, because each entry is a decision about
  // lost answers.
  it('is once or withKey for these calls only', () => {
    const listed = (word: string) => namesWhere(endpointList, (row) => keyOf(row) === word);
    assert.deepEqual(listed('once'), [
      'memberChangeRole',
      'memberRemove',
      'invitationCreate',
      'serviceTokenMint',
      'jobsRetry',
      'jobsRelease',
      // A question whose answer was lost is withdrawn.
      'sessionQuestionsAsk',
      'integrationEventsReplay',
    ]);
    assert.deepEqual(listed('claimKey'), ['jobsClaimNext', 'cloudAiJobsClaimNext']);
    assert.deepEqual(listed('idempotencyKey'), [
      'jobsEnqueue',
      'jobsContinue',
      'jobsBulk',
      'reviewCommentsSave',
      'worksLand',
      'uncertaintiesCreateWithAutoPromotion',
      'uncertaintiesAddResolution',
      'uncertaintiesResolveAlike',
      'cloudAiJobsEnqueue',
      'contextItemsUpsert',
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
        assert.equal(repeat, 'safe', 'reads are safe');
      }
    });
  }
});

describe('the field jobToken', () => {
  it('uses every rule', () => {
    const used = new Set(rows.map(({ jobToken }) => jobToken));
    assert.deepEqual(
      [...jobTokenRules].filter((rule) => !used.has(rule)),
      [],
    );
  });

  for (const row of rows) {
    it(`has the fields that its rule needs: ${row.name}`, () => {
      const { jobToken } = row;
      if (jobToken !== 'none') assert.equal(row.auth, 'bearer');
      if (jobToken === 'own-job') assert.ok(requires(row, 'jobId'));
      if (jobToken === 'own-run') assert.ok(takes(row, 'runId'));
      if (jobToken === 'own-run-and-job') assert.ok(takes(row, 'runId') && takes(row, 'jobId'));
      if (jobToken === 'own-run-by-reference') assert.ok(requires(row, 'runRef'));
    });
  }

  it('keeps job tokens from answering, promoting, enqueueing, claiming and controlling the queue', () => {
    const names = namesWhere(endpointList, ({ jobToken }) => jobToken !== 'none');
    for (const name of [
      'uncertaintiesAddResolution',
      'uncertaintiesResolveAlike',
      'uncertaintiesPromote',
      'uncertaintiesWithdrawResolution',
      'jobsEnqueue',
      'jobsBulk',
      'jobsContinue',
      'jobsChooseVariant',
      'jobTemplatesSave',
      'jobTemplatesRemove',
      'reviewCommentsSave',
      'reviewCommentsResolve',
      'reviewCommentsAnswer',
      'jobsClaimNext',
      'jobsCancel',
      'jobsRetry',
      'jobsRelease',
      // A question whose answer was lost is withdrawn.
      'sessionQuestionsAsk',
      'jobsRequestPatch',
      'jobsSharePatch',
      'queuePause',
      'queueResume',
      'cloudAiJobsClaimNext',
      'contextItemsUpsert',
    ]) {
      assert.ok(!names.includes(name), name);
    }
  });
});

describe('the field console', () => {
  it('decides which endpoints are mirrored, all of them with bearer tokens', () => {
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
