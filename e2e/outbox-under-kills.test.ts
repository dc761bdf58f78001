import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { mintTokenByAdmin } from '@signalbox/hub';
import { findFreePort } from '@signalbox/local-postgres';
import { ApiError, createClient } from '@signalbox/sdk';
import { configFlag, createMachine, runJson } from './cli-process.ts';
import { makeClone } from './git-clone.ts';
import { configOf, moveOutbox, readDatabase } from './hub-database.ts';
import { startHubProcess } from './hub-process.ts';
import { type NodeProcess, projectRoot } from './node-process.ts';
import { callConsole, makeOwner, owner } from './person.ts';
import { makeTempDir } from './temp-dir.ts';
import { processesOf } from './tools/acp-bench.ts';

/** SIGNALBOX_TEST_KILLS asks for more than the usual number. */
const KILLS = Number(process.env.SIGNALBOX_TEST_KILLS ?? 5);
/** Of a run, half of which are answered; each kill has the question of a job, too. */
const QUESTIONS_OF_KILL = 6;
/** A message leaves within this time, so a random delay of it hits each of its phases. */
const PHASE_MS = 400;
const LOOK_MS = 50;
/** Enough attempts to outlast a restart many times over. */
const ATTEMPTS_MAX = 100;
/** A hub that has died with a message on its way leaves it for so long. */
const ATTEMPT_MS = 60_000;
/** A job that a killed part has left is taken back after this time at the latest. */
const LEASE = '10s';
/** A job whose message waits for the attempt of a dead hub keeps its place meanwhile. */
const JOBS_AT_A_TIME = 4;

type Part = 'hub' | 'agent' | 'tool';
/** From the last kill back: a hub that starts sends what is left. */
const parts = ['hub', 'agent', 'tool'] as const;

interface Message {
  id: string;
  question: string;
  uncertaintyId: string;
  /** Hubs that had started when it came. */
  starts: number;
}

/** An act when a message has arrived, before its sender hears that it has. */
interface Strike {
  isMeant: (message: Message) => boolean;
  act: () => Promise<void>;
  done: PromiseWithResolvers<void>;
}

/** A receiver of webhooks that counts what comes under which start of the hub. */
async function startReceiver(t: TestContext) {
  const messages: Message[] = [];
  const arrivals = new EventEmitter<{ message: [Message] }>();
  let starts = 0;
  let strike: Strike | null = null;
  const server = createServer(async (request, response) => {
    const { data } = (await json(request)) as { data: { text: string; url: string } };
    const message = {
      id: String(request.headers['webhook-id']),
      question: /“(Question [^”]+)”$/.exec(data.text)?.[1] ?? data.text,
      uncertaintyId: new URL(data.url).pathname.split('/').at(-1) ?? '',
      starts,
    };
    messages.push(message);
    arrivals.emit('message', message);
    const { isMeant, act, done } = strike ?? {};
    if (isMeant?.(message)) {
      strike = null;
      await act?.().then(done?.resolve, done?.reject);
    }
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    messages,
    arrivals,
    noteStart() {
      starts += 1;
    },
    starts: () => starts,
    /** Acts on the next message that is meant, while its sender waits. */
    strikeOn(isMeant: Strike['isMeant'], act: Strike['act']): Promise<void> {
      const done = Promise.withResolvers<void>();
      strike = { isMeant, act, done };
      return done.promise;
    },
    async untilHeard(questions: readonly string[]) {
      const heard = () => new Set(messages.map(({ question }) => question));
      while (!questions.every((one) => heard().has(one))) await once(arrivals, 'message');
    },
  };
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** A hub, an agent of its owner whose tool asks, and a channel of the owner to the receiver. */
async function startScene(t: TestContext, receiver: Receiver) {
  const folder = makeTempDir(t);
  const dataDir = join(folder, 'data');
  const place = {
    ...{ dataDir, port: await findFreePort() },
    env: { SVC_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  };
  let hub = await startHubProcess(place);
  receiver.noteStart();
  const { workspaceId, cookie } = await makeOwner(hub);
  const channel = { kind: 'webhook', name: 'Pager', url: receiver.url, showsText: true };
  const put = { workspaceId, ...channel, events: ['decision'] };
  await callConsole(hub.baseUrl, 'notification-channels/put', put, cookie);
  const { token } = await mintTokenByAdmin(await configOf(dataDir), {
    ...{ workspaceSlug: owner.workspaceSlug, name: 'robot' },
    scopes: ['enqueue', 'read', 'agent', 'decide'],
  });
  const client = createClient({ baseUrl: hub.baseUrl, token, maxAttempts: ATTEMPTS_MAX });
  const machine = createMachine(folder, {
    ...{ SIGNALBOX_URL: hub.baseUrl, SIGNALBOX_WORKSPACE: owner.workspaceSlug },
    SIGNALBOX_TOKEN: token,
  });
  const clone = join(folder, 'clone');
  makeClone(clone, 'git@git.acme.example:acme/api.git');
  const { repo } = await runJson<{ repo: { repoId: string } }>(machine, ['repo', 'link', clone]);
  const tool = `'${process.execPath}' '${join(projectRoot, 'e2e/waiting-tool.ts')}'`;
  const settings = configFlag(folder, { jobs: JOBS_AT_A_TIME, lease: LEASE });
  async function startAgent(): Promise<NodeProcess> {
    const started = machine.start(['agent', 'start', '--json', '--tool', tool, ...settings]);
    await started.waitFor(/"type":"online"/);
    return started;
  }
  let agent = await startAgent();
  t.after(async () => {
    agent.child.kill('SIGTERM');
    await agent.ended;
    await hub.kill();
  });

  /** Kills the tool of a job once it has asked. */
  async function killTool(jobId: string): Promise<void> {
    for (;;) {
      const { uncertainties } = await client.uncertainties.list({ workspaceId, jobId });
      if (uncertainties.length > 0) break;
      await delay(LOOK_MS);
    }
    for (;;) {
      const found = processesOf(jobId).filter(({ line }) => line.includes('waiting-tool'));
      for (const { pid } of found) killProcess(pid);
      if (found.length > 0) return;
      await delay(LOOK_MS);
    }
  }

  return {
    ...{ dataDir, client, workspaceId },
    /** @returns the ID of a job whose tool asks. */
    async enqueue(): Promise<string> {
      const draft = { workspaceId, repoId: repo.repoId, kind: 'work', prompt: 'Work.' };
      const job = { ...draft, maxAttempts: ATTEMPTS_MAX };
      return String((await callConsole(hub.baseUrl, 'jobs/enqueue', job, cookie)).answer.jobId);
    },
    async kill(part: Part, jobId: string): Promise<void> {
      if (part === 'tool') await killTool(jobId);
      else if (part === 'hub') await hub.kill();
      else {
        agent.child.kill('SIGKILL');
        await agent.ended;
      }
    },
    /** Starts a killed part again; a hub, as if it had been away for the time of an attempt. */
    async restart(part: Part): Promise<void> {
      if (part === 'agent') agent = await startAgent();
      if (part !== 'hub') return;
      await moveOutbox(dataDir, ATTEMPT_MS);
      hub = await startHubProcess(place);
      receiver.noteStart();
    },
    async untilDone(jobId: string) {
      for (;;) {
        const { job } = await client.jobs.get({ workspaceId, jobId });
        if (job.status === 'done') return job;
        assert.ok(['pending', 'running', 'blocked'].includes(job.status), JSON.stringify(job));
        await delay(LOOK_MS);
      }
    },
    stopHub: () => hub.stop(),
  };
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It ended with one that was killed before it.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

type Scene = Awaited<ReturnType<typeof startScene>>;

/** People who answer, each question by two doors at the same time. */
function createAnswers({ client, workspaceId }: Scene, receiver: Receiver) {
  /** By question, once its answer was acknowledged. */
  const answered = new Map<string, { value: string; starts: number; messages: number }>();
  async function give(question: string, uncertaintyId: string): Promise<void> {
    const doors = ['Yes.', 'No.'].map(async (value) => {
      const answer = { mode: 'answered' as const, value, confidence: 1 };
      const idempotencyKey = `${value}-${uncertaintyId}`;
      try {
        await client.uncertainties.addResolution({
          ...{ workspaceId, uncertaintyId, ...answer, idempotencyKey },
        });
        return value;
      } catch (error) {
        if (error instanceof ApiError && error.code === 'ALREADY_RESOLVED') return null;
        throw error;
      }
    });
    const [value, ...others] = (await Promise.all(doors)).filter((one) => one !== null);
    assert.ok(value !== undefined);
    assert.deepEqual(others, [], 'one answer wins');
    const { messages } = receiver;
    answered.set(question, { value, starts: receiver.starts(), messages: messages.length });
  }
  return { answered, give };
}

type Answers = ReturnType<typeof createAnswers>;
type Asker = Awaited<ReturnType<typeof createAsker>>;

/** Asks questions of a run: every second stays open, the others are answered in a moment. */
async function createAsker({ client, workspaceId }: Scene, { give }: Answers) {
  const open: string[] = [];
  const { repoId } = await client.repositories.upsert({
    ...{ workspaceId, remoteUrlHash: 'ab'.repeat(32) },
  });
  const run = { workspaceId, repoId, runRef: 'kills', status: 'in_progress' };
  const { runId } = await client.runs.upsertV1(run);
  async function ask(number: number): Promise<void> {
    const question = `Question ${number}?`;
    const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion({
      ...{ workspaceId, runId, kind: 'choice', confidence: 0.2, prompt: question },
      idempotencyKey: `question-${number}`,
    });
    if (number % 2 === 0) return void open.push(question);
    await delay(randomInt(PHASE_MS));
    await give(question, uncertaintyId);
  }
  return { open, ask };
}

/** Kills one part after the other, each while its job and people are about to ask. */
async function playKills(scene: Scene, receiver: Receiver, { give }: Answers, ask: Asker['ask']) {
  /** By question: the job, and the kill after which the question is answered. */
  const jobs = new Map<string, { jobId: string; struck: Promise<void> }>();
  const given: Promise<void>[] = [];
  receiver.arrivals.on('message', ({ question, uncertaintyId }) => {
    const isFirst = receiver.messages.filter((one) => one.question === question).length === 1;
    const { struck } = jobs.get(question) ?? {};
    if (struck && isFirst) given.push(struck.then(() => give(question, uncertaintyId)));
  });
  const killed = { hub: 0, agent: 0, tool: 0 };
  const aimed = { ...killed };
  for (let kills = 0; kills < KILLS; kills++) {
    const part = parts[(KILLS - 1 - kills) % parts.length] ?? 'hub';
    const jobId = await scene.enqueue();
    const own = `Question of ${jobId}?`;
    const isMeant = ({ question }: Message) => part === 'hub' || question === own;
    // Most kills fall between the arrival of a message and the record of it.
    const isAimed = kills % 4 !== 0;
    const struck = isAimed
      ? receiver.strikeOn(isMeant, () => scene.kill(part, jobId))
      : delay(randomInt(PHASE_MS)).then(() => scene.kill(part, jobId));
    jobs.set(own, { jobId, struck });
    const numbers = Array.from({ length: QUESTIONS_OF_KILL }, (_, at) => at);
    const asked = Promise.all(numbers.map((at) => ask(kills * QUESTIONS_OF_KILL + at)));
    await struck;
    killed[part] += 1;
    if (isAimed) aimed[part] += 1;
    await scene.restart(part);
    await asked;
    // A lease that ends while no hub runs would keep its job for another minute.
    if (part === 'agent') for (const one of jobs.values()) await scene.untilDone(one.jobId);
  }
  await receiver.untilHeard([...jobs.keys()]);
  await Promise.all(given);
  return { jobs, killed, aimed };
}

/*
 * A message is sent at least once, and not for an answer that was given before the hub started
 * that sends it. Of two answers to a question, one counts.
 */
test('no message is lost, and none follows its answer, while hub, agent and tool are killed', async (t) => {
  const receiver = await startReceiver(t);
  const scene = await startScene(t, receiver);
  const answers = createAnswers(scene, receiver);
  const { open, ask } = await createAsker(scene, answers);
  const { jobs, killed, aimed } = await playKills(scene, receiver, answers, ask);
  await receiver.untilHeard(open);
  const { answered } = answers;
  for (const [question, { jobId }] of jobs) {
    const { message } = await scene.untilDone(jobId);
    assert.equal(message, `Answer: ${answered.get(question)?.value}`);
  }
  await scene.stopHub();

  const { messages } = receiver;
  const late = messages.filter(
    ({ question, starts }) => starts > (answered.get(question)?.starts ?? starts),
  );
  assert.deepEqual(late, [], 'a hub that starts after an answer sends no message about it');
  const unknown = messages.filter(
    ({ question }) => !open.includes(question) && !answered.has(question),
  );
  assert.deepEqual(unknown, []);
  const questions = open.length + answered.size;
  assert.equal(questions, KILLS * (QUESTIONS_OF_KILL + 1));
  const [counted] = await readDatabase(
    scene.dataDir,
    'SELECT COUNT(*) AS given, COUNT(DISTINCT uncertainty_id) AS questions FROM resolutions',
  );
  const counts = Object.values(counted as Record<string, unknown>).map(Number);
  assert.deepEqual(counts, [answered.size, answered.size], 'each is answered once');
  const crossed = messages.filter(
    ({ question }, at) => at >= (answered.get(question)?.messages ?? messages.length),
  );
  const doubled = messages.length - new Set(messages.map(({ id }) => id)).size;
  t.diagnostic(
    `${KILLS} kills (${describe(killed)}; ${describe(aimed)} while a message was on its way), ` +
      `${questions} questions, ${messages.length} messages: 0 lost, ${doubled} doubled, ` +
      `0 sent after the answer (${crossed.length} crossed it), 0 questions answered twice`,
  );
});

function describe(counts: Readonly<Record<Part, number>>): string {
  return Object.entries(counts)
    .map(([part, count]) => `${count} ${part}`)
    .join(', ');
}
