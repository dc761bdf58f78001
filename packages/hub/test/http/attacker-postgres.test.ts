import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { CALLS_MAX, READS_MAX, READS_WAITING_MAX } from '../../src/http/limiter.ts';
import type { Hub } from '../../src/start/app.ts';
import { mintServiceToken } from '../../src/tokens/mint.ts';
import {
  addAgent,
  addWorkspace,
  callHub,
  enqueueJob,
  type HubsWorkspace,
  startSeveralHubs,
} from '../support/several-hubs.ts';
import { until } from '../support/until.ts';

/*
 * A workspace beside another that sends without end, on a real hub and database. Asserted is how
 * many calls of the attacker end between the arrival of a call and its answer, which does not
 * depend on the speed of the machine.
 */

const { jobs } = endpoints;
const options = { timeout: 120_000 };
/** As many as need turns; a limit in units a second would depend on time. */
const noLimits = { tokenRate: 0, workspaceRate: 0, addressRate: 0 };
const TOO_MANY_REQUESTS = 429;

interface World {
  hub: Hub;
  victim: HubsWorkspace;
  attacker: HubsWorkspace;
  /** Tokens of the attacker. */
  tokens: string[];
}

async function setup(t: TestContext, tokenCount: number): Promise<World> {
  const world = await startSeveralHubs(t);
  const hub = await world.start({ ...noLimits, databaseSessions: 12 });
  const victim = await addWorkspace(hub, 'victim');
  const attacker = await addWorkspace(hub, 'attacker');
  const { workspaceId } = attacker;
  const tokens = Array.from({ length: tokenCount }, async (_none, at) => {
    const draft = { workspaceId, name: `token ${at}`, createdBy: 'test' };
    const mint = () =>
      hub.database.write(workspaceId, (tx) => mintServiceToken(hub.deps, tx, draft));
    return (await mint()).token;
  });
  return { hub, victim, attacker, tokens: await Promise.all(tokens) };
}

/**
 * Repeats a call on many connections of each token, as soon as it is answered, until `end` is
 * called or the call is refused.
 */
function attack({ hub, tokens }: World, connections: number, call: { path: string; body: object }) {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  let isOver = false;
  let refused = 0;
  const repeat = async (token: string) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    while (!isOver) {
      const sent = request(hub.baseUrl + call.path, { method: 'POST', agent, headers });
      sent.end(JSON.stringify(call.body));
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      await once(answer.resume(), 'end');
      if (answer.statusCode === TOO_MANY_REQUESTS) {
        refused += 1;
        return;
      }
      assert.equal(answer.statusCode, 200);
    }
  };
  const lines = tokens.flatMap((token) => Array.from({ length: connections }, () => repeat(token)));
  const end = async () => {
    isOver = true;
    await Promise.all(lines);
    agent.destroy();
  };
  return { refused: () => refused, end };
}

/** Counts the calls of the attacker as the hub receives and answers them; refusals end soon. */
function watch({ hub, victim }: World) {
  let open = 0;
  let ended = 0;
  /** For each call of the victim, how many of the attacker were answered before. */
  const passed: number[] = [];
  hub.server.server.on('request', ({ headers }: IncomingMessage, answer: ServerResponse) => {
    const isVictim = headers.authorization === `Bearer ${victim.token}`;
    const before = ended;
    if (!isVictim) open += 1;
    answer.once('close', () => {
      if (isVictim) {
        passed.push(ended - before);
        return;
      }
      open -= 1;
      if (answer.statusCode !== TOO_MANY_REQUESTS) ended += 1;
    });
  });
  return { passed, open: () => open };
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

test('calls of an agent pass hundreds of writes of another workspace', options, async (t) => {
  const TOKENS = 8;
  const ROUNDS = 4;
  const world = await setup(t, TOKENS);
  const { hub, victim, attacker } = world;
  const agentId = await addAgent(hub, victim, 'one');
  const { passed, open } = watch(world);
  // All that the slots of the tokens allow.
  const { workspaceId, repoId } = attacker;
  const body = { workspaceId, repoId, kind: 'work', prompt: 'x'.repeat(1_000) };
  const attacking = attack(world, CALLS_MAX, { path: jobs.enqueue.path, body });
  const waiting = TOKENS * CALLS_MAX;
  try {
    await until('the calls of the attacker wait', () => open() > waiting * 0.9);
    const place = { workspaceId: victim.workspaceId };
    const { token } = victim;
    for (let round = 0; round < ROUNDS; round++) {
      const jobId = await enqueueJob(hub, victim);
      const claim = await callHub(hub, jobs.claimNext, { ...place, agentId }, token);
      assert.equal(claim.jobId, jobId);
      const held = { ...place, agentId, jobId };
      await callHub(hub, jobs.heartbeat, { ...held, leaseMs: 60_000 }, token);
      await callHub(hub, jobs.get, { ...place, jobId }, token);
      await callHub(hub, jobs.complete, { ...held, outcome: 'done' }, token);
    }
  } finally {
    await attacking.end();
  }
  assert.equal(passed.length, 5 * ROUNDS);
  // A few turns of the event loop and transactions. In one line with the attacker it is nearly all.
  assert.ok(medianOf(passed) <= waiting / 4, `${passed} of ${waiting} calls went before`);
});

test('lists beyond a limit are refused, those of another workspace not', options, async (t) => {
  const TOKENS = 4;
  const LISTS = 8;
  const world = await setup(t, TOKENS);
  const { hub, victim, attacker } = world;
  const long = { prompt: 'x'.repeat(5_000) };
  await Promise.all(Array.from({ length: 60 }, () => enqueueJob(hub, attacker, long)));
  const { open } = watch(world);
  const admitted = READS_MAX + READS_WAITING_MAX;
  const body = { workspaceId: attacker.workspaceId, limit: 200 };
  const attacking = attack(world, admitted + 32, { path: jobs.list.path, body });
  try {
    await until('no more than the limit wait', () => attacking.refused() >= TOKENS);
    await until('the others are refused', () => open() <= TOKENS * admitted);
    const { workspaceId, token } = victim;
    for (let count = 0; count < LISTS; count++) {
      await callHub(hub, jobs.list, { workspaceId }, token);
    }
  } finally {
    await attacking.end();
  }
});
