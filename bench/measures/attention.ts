import { createECDH, randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@signalbox/sdk';
import { callConsole } from '../../e2e/person.ts';
import type { Bench } from '../bench.ts';
import type { Figure } from '../figure.ts';
import { summarizeLatency } from '../statistics.ts';
import { baseUrlOf, type HubWorld, withHubs } from '../subjects/hub.ts';
import { signInOwner } from '../subjects/person.ts';

/** 100 questions a minute. */
const INTERVAL_MS = 600;

/** P17: from a question to its push message at a push service. */
export async function measureAttention(bench: Bench): Promise<Figure[]> {
  const { quick, rounds } = bench.options;
  const questions = quick ? 10 : 100;
  const settings = { SVC_ALLOW_PRIVATE_HOSTS: '127.0.0.1' };
  const values: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    await withHubs(bench, 'sqlite', { tokenCount: 1, settings }, async (world, store) => {
      const service = await startPushService();
      try {
        const { baseUrl, cookie, workspaceId } = await signInOwner(store, world);
        const channel = { kind: 'push', name: 'Phone', ...service.subscription, showsText: true };
        const put = { workspaceId, ...channel, events: ['decision'] };
        await callConsole(baseUrl, 'notification-channels/put', put, cookie);
        const tookMs = await ask(world, service, questions);
        bench.say(`  round ${round}  ${JSON.stringify(summarizeLatency(tookMs))}`);
        values.push(summarizeLatency(tookMs)?.p99Ms ?? Number.NaN);
      } finally {
        service.close();
      }
    });
  }
  const what = 'question asked to push accepted, 100 a minute, p99';
  return [{ measure: 'P17', what, unit: 'ms', atMost: 1_000, values }];
}

/** Asks in even intervals. Messages come in the order of their questions, one at a time. */
async function ask(
  { workspaceId, repoId, targets, tokens }: HubWorld,
  service: Awaited<ReturnType<typeof startPushService>>,
  questions: number,
): Promise<number[]> {
  const client = createClient({ baseUrl: baseUrlOf(targets[0]), token: tokens[0] ?? '' });
  const run = { workspaceId, repoId, runRef: 'questions', status: 'in_progress' };
  const { runId } = await client.runs.upsertV1(run);
  const askedMs: number[] = [];
  for (let number = 1; number <= questions; number++) {
    const pause = delay(INTERVAL_MS);
    askedMs.push(performance.now());
    await client.uncertainties.createWithAutoPromotion({
      workspaceId,
      runId,
      kind: 'choice',
      confidence: 0.2,
      prompt: `Question ${number}?`,
    });
    await pause;
  }
  await service.untilAccepted(questions);
  return service.acceptedMs.map((atMs, at) => atMs - (askedMs[at] ?? Number.NaN));
}

/** A push service with one subscription, which accepts each message. */
async function startPushService() {
  const acceptedMs: number[] = [];
  const accepted = new EventEmitter();
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      acceptedMs.push(performance.now());
      response.writeHead(201).end();
      accepted.emit('message');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const keys = {
    p256dh: createECDH('prime256v1').generateKeys('base64url'),
    auth: randomBytes(16).toString('base64url'),
  };
  return {
    subscription: { url: `http://127.0.0.1:${port}/push/1`, keys },
    acceptedMs,
    async untilAccepted(count: number) {
      while (acceptedMs.length < count) await once(accepted, 'message');
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
