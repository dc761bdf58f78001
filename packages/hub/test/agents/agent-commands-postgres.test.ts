import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandAgent } from '../../src/agents/command.ts';
import { readJobTitles } from '../../src/jobs/store-whole.ts';
import { developmentPrincipal } from '../../src/tokens/authenticate-bearer.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  addAgent,
  addWorkspace,
  claimWaiting,
  startSeveralHubs,
  untilAcquainted,
  untilParked,
} from '../support/several-hubs.ts';

test('a command on one hub answers the claim of the agent that waits on another', {
  timeout: 30_000,
}, async (t) => {
  const world = await startSeveralHubs(t);
  // The clock does not advance, so no hub looks by itself.
  const clock = createManualClock(Date.now());
  const waiting = await world.start({}, clock);
  const other = await world.start({}, clock);
  await untilAcquainted(waiting, other);
  const workspace = await addWorkspace(other);
  const agentId = await addAgent(other, workspace, 'one');
  const claim = claimWaiting(waiting, workspace, agentId);
  await untilParked(waiting, 1);
  const { workspaceId } = workspace;
  await commandAgent({ ...other.deps, readJobTitles }, developmentPrincipal(), {
    workspaceId,
    agentId,
    command: 'stop',
  });
  const { jobId, commands } = await claim;
  assert.deepEqual([jobId, commands], [null, [{ command: 'stop', number: 1 }]]);
});
