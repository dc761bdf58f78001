import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { mintTokenByAdmin } from '@signalbox/hub';
import { findFreePort } from '@signalbox/local-postgres';
import { createClient } from '@signalbox/sdk';
import { configOf, readDatabase } from './hub-database.ts';
import { startHubProcess } from './hub-process.ts';
import { callConsole, makeOwner, owner } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

/** SIGNALBOX_TEST_KILLS asks for more than the usual number. */
const KILLS = Number(process.env.SIGNALBOX_TEST_KILLS ?? 5);
const QUESTIONS_OF_KILL = 6;
/** A message leaves within this time, so a random delay of it hits each of its phases. */
const PHASE_MS = 400;
/** Enough attempts to outlast a restart many times over. */
const ATTEMPTS_MAX = 100;

interface Message {
  id: string;
  question: string;
  /** Hubs that had started when it came. */
  starts: number;
}

/** A receiver of webhooks that counts what comes under which start of the hub. */
async function startReceiver(t: TestContext) {
  const messages: Message[] = [];
  const arrivals = new EventEmitter();
  let starts = 0;
  const server = createServer(async (request, response) => {
    const { data } = (await json(request)) as { data: { text: string } };
    const id = String(request.headers['webhook-id']);
    messages.push({ id, question: data.text, starts });
    response.end();
    arrivals.emit('message');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const heard = () => new Set(messages.map(({ question }) => question));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    messages,
    noteStart() {
      starts += 1;
    },
    starts: () => starts,
    async untilHeard(questions: readonly string[]) {
      while (!questions.every((one) => heard().has(one))) await once(arrivals, 'message');
    },
  };
}

/*
 * A message is sent at least once, and not for an answer that was given before the hub started
 * that sends it.
 */
test('no message is lost, and none follows its answer, while the hub is killed', async (t) => {
  const receiver = await startReceiver(t);
  const dataDir = makeTempDir(t);
  const place = {
    ...{ dataDir, port: await findFreePort() },
    env: { SVC_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  };
  let hub = await startHubProcess(place);
  receiver.noteStart();
  t.after(() => hub.kill());
  const { workspaceId, cookie } = await makeOwner(hub);
  const channel = { kind: 'webhook', name: 'Pager', url: receiver.url, showsText: true };
  const put = { workspaceId, ...channel, events: ['decision'] };
  await callConsole(hub.baseUrl, 'notification-channels/put', put, cookie);
  const { token } = await mintTokenByAdmin(await configOf(dataDir), {
    ...{ workspaceSlug: owner.workspaceSlug, name: 'robot' },
    scopes: ['enqueue', 'read', 'agent', 'decide'],
  });
  const client = createClient({ baseUrl: hub.baseUrl, token, maxAttempts: ATTEMPTS_MAX });
  const { repoId } = await client.repositories.upsert({
    ...{ workspaceId, remoteUrlHash: 'ab'.repeat(32) },
  });
  const { runId } = await client.runs.upsertV1({
    workspaceId,
    repoId,
    runRef: 'kills',
    status: 'in_progress',
  });
  const open: string[] = [];
  /** By question: the starts of the hub when its answer was acknowledged. */
  const answered = new Map<string, number>();

  async function ask(number: number): Promise<void> {
    const question = `“Question ${number}?”`;
    const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion({
      ...{ workspaceId, runId, kind: 'choice', confidence: 0.2, prompt: `Question ${number}?` },
      idempotencyKey: `question-${number}`,
    });
    if (number % 2 === 0) return void open.push(question);
    await delay(randomInt(PHASE_MS));
    const answer = { mode: 'answered' as const, value: 'Yes.', confidence: 1 };
    await client.uncertainties.addResolution({
      ...{ workspaceId, uncertaintyId, ...answer, idempotencyKey: `answer-${number}` },
    });
    answered.set(question, receiver.starts());
  }

  for (let kills = 0; kills < KILLS; kills++) {
    const first = kills * QUESTIONS_OF_KILL;
    const asked = Promise.all(
      Array.from({ length: QUESTIONS_OF_KILL }, (_, at) => ask(first + at)),
    );
    await delay(randomInt(PHASE_MS));
    await hub.kill();
    hub = await startHubProcess(place);
    receiver.noteStart();
    await asked;
  }
  await receiver.untilHeard(open);
  await hub.stop();

  const { messages } = receiver;
  const late = messages.filter(
    ({ question, starts }) => starts > (answered.get(question) ?? starts),
  );
  assert.deepEqual(late, [], 'a hub that starts after an answer sends no message about it');
  const unknown = messages.filter(
    ({ question }) => !open.includes(question) && !answered.has(question),
  );
  assert.deepEqual(unknown, []);
  const rows = await readDatabase(
    dataDir,
    `SELECT state, COUNT(*) AS count FROM notifications GROUP BY state ORDER BY state`,
  );
  const resolutions = await readDatabase(dataDir, 'SELECT COUNT(*) AS count FROM resolutions');
  assert.equal(Number((resolutions[0] as { count: unknown }).count), answered.size);
  const doubled = messages.length - new Set(messages.map(({ id }) => id)).size;
  const questions = { open: open.length, answered: answered.size };
  t.diagnostic(JSON.stringify({ kills: KILLS, questions, states: rows, doubled }));
  assert.equal(open.length + answered.size, KILLS * QUESTIONS_OF_KILL);
});
