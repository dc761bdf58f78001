import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { Api } from '../../src/http/bind.ts';
import { costOf } from '../../src/http/call-cost.ts';
import { TURN_MS } from '../../src/http/call-turns.ts';
import type { Handler } from '../../src/http/handlers.ts';
import { UNIT_MS } from '../../src/http/limiter.ts';
import { SharedAnswers } from '../../src/http/shared-answers.ts';
import { createBareServer } from '../support/bare-server.ts';
import { countTurns } from '../support/event-loop-turns.ts';
import { createOpenGate } from '../support/open-gate.ts';

const { list } = endpoints.jobs;
const { append } = endpoints.jobEvents;
const workspaceId = `ws_${'1'.repeat(32)}`;
const held = { jobId: `job_${'1'.repeat(32)}`, agentId: `agt_${'1'.repeat(32)}` };
const entries = [{ logSeq: 1, message: 'ran 12 tests' }];

/** A server with one row. @returns sends a request to it for a caller of that name. */
function serve<Row extends typeof append | typeof list>(
  t: TestContext,
  row: Row,
  handler: Handler<Row['request'], Row['response']>,
  onAnswer: () => void = () => undefined,
) {
  const { server, limiter } = createBareServer();
  t.after(() => server.close());
  const sharedAnswers = new SharedAnswers(() => false);
  const api = new Api(server, { gatekeeper: createOpenGate(), limiter, sharedAnswers }, onAnswer);
  api.bind<Row['request'], Row['response']>(row, handler);
  const payload = row === list ? { workspaceId } : { workspaceId, ...held, entries };
  const send = async (caller: string, fields: object = {}) => {
    const headers = { 'x-caller': caller };
    const answer = await server.inject({
      method: 'POST',
      url: row.path,
      headers,
      payload: { ...payload, ...fields },
    });
    assert.equal(answer.statusCode, 200, answer.body);
  };
  return { send };
}

/** The calls of one turn begin before that of an agent, and then one of each other caller. */
function assertBeginsSoon(begun: readonly string[], otherCallers: number): void {
  const inOneTurn = Math.ceil(TURN_MS / UNIT_MS);
  const place = begun.indexOf('agent');
  assert.ok(place >= 0 && place <= inOneTurn + otherCallers, `${place} calls have begun before it`);
}

test('a call begins soon, however many calls of another caller have arrived before it', async (t) => {
  const begun: string[] = [];
  const { send } = serve(t, append, async (_input, { principal }) => {
    begun.push(principal.tokenId);
    return { appended: 1, lastLogSeq: 1 };
  });
  const flood = Array.from({ length: 60 }, () => send('attacker'));
  await Promise.all([...flood, send('agent')]);
  assert.equal(begun.length, 61);
  assertBeginsSoon(begun, 1);
});

test('a long body costs its caller the time to read it', async (t) => {
  const begun: string[] = [];
  const { send } = serve(t, append, async (_input, { principal }) => {
    begun.push(principal.tokenId);
    return { appended: 1, lastLogSeq: 1 };
  });
  const output = Array.from({ length: 20 }, (_, at) => ({
    logSeq: at + 1,
    message: 'x'.repeat(10_000),
  }));
  const long = Array.from({ length: 30 }, () => send('talker', { entries: output }));
  const short = Array.from({ length: 100 }, () => send('agent'));
  await Promise.all([...long, ...short]);
  // 200,000 bytes cost as much as about a dozen short calls.
  const before = begun.slice(0, begun.lastIndexOf('agent')).filter((who) => who === 'talker');
  assert.ok(before.length <= 15, `${before.length} long calls before the last short one`);
});

test('the texts of long pages that were read at the same time are made in several turns', async (t) => {
  const READS = 8;
  const turns = countTurns();
  t.after(() => turns.stop());
  const answeredInTurn = new Map<number, number>();
  const everyRead = Promise.withResolvers<void>();
  let reading = 0;
  const { send } = serve(
    t,
    list,
    async () => {
      reading += 1;
      if (reading === READS) everyRead.resolve();
      await everyRead.promise;
      return { jobs: [], nextCursor: null };
    },
    () => answeredInTurn.set(turns.turns, (answeredInTurn.get(turns.turns) ?? 0) + 1),
  );
  await Promise.all(Array.from({ length: READS }, () => send('attacker')));
  const most = Math.max(...answeredInTurn.values());
  const inOneTurn = Math.ceil(TURN_MS / (costOf(list).units * UNIT_MS));
  assert.ok(most <= inOneTurn, `${most} texts in one turn`);
});
