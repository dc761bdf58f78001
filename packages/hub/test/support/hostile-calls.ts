import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import {
  type Endpoint,
  type ErrorCode,
  endpoints,
  INTEGRATION_SECRET_HEADER,
  listErrorCodes,
} from '@signalbox/contract';
import { assertNothingLeaks } from './api-scenario.ts';
import { startApiWorld, type World } from './api-world.ts';
import { listBoundCalls } from './bound-endpoints.ts';
import { type Answer, checkRequestId, type Exchange, exchange, toBytes } from './http-exchange.ts';
import { CHAT_SECRET, SECRET, signatureHeaders } from './integration-world.ts';
import { testEngine } from './test-engine.ts';

/** Every answer must be documented, have an id, not be a 5xx, and leak nothing. */
export function checkAnswer(endpoint: Endpoint, answer: Answer, sent: string): void {
  const about = `${endpoint.name} ${sent.slice(0, 300)}: ${answer.text.slice(0, 500)}`;
  assert.ok(answer.status < 500, about);
  checkRequestId(answer);
  assertNothingLeaks(answer);
  if (answer.status === 200) return;
  const code = answer.body.error as ErrorCode;
  assert.ok(listErrorCodes(endpoint).includes(code), `is documented: ${about}`);
}

/** Undoes what a valid request among the hostile ones may have done: jobs can be claimed again. */
export async function openQueue({ call, home }: World): Promise<void> {
  const { workspaceId, repoId } = home;
  await call(endpoints.queue.resume, { workspaceId });
  await call(endpoints.queue.resume, { workspaceId, repoId });
  const capabilities = { canWrite: true };
  const machineFingerprint = 'home-machine';
  await call(endpoints.agents.heartbeat, { workspaceId, machineFingerprint, capabilities });
  const remoteUrlHash = Buffer.from('first'.padEnd(32, '.')).toString('hex');
  await call(endpoints.repositories.upsert, { workspaceId, remoteUrlHash, status: 'active' });
}

/** Checks that the hub still completes jobs and that its database file, if any, is intact. */
export async function checkHealth(world: World): Promise<void> {
  await openQueue(world);
  await world.finishJob('done');
  if (testEngine !== 'sqlite') return;
  // On a new connection: one that has searched before compares an index with its cached state,
  // and reports the writes of other connections as corruption.
  const db = new DatabaseSync(join(world.dataDir, 'signalbox.db'), { readOnly: true });
  const found = db.prepare('PRAGMA integrity_check').get();
  db.close();
  assert.deepEqual({ ...found }, { integrity_check: 'ok' });
}

/** The credentials of endpoints that accept no bearer token. */
function proofOf({ auth }: Endpoint, body: unknown, nowMs: number): Record<string, string> {
  if (auth === 'integration-secret') return { [INTEGRATION_SECRET_HEADER]: SECRET };
  return auth === 'chat-signature' ? signatureHeaders(toBytes(body), { nowMs }) : {};
}

/** A hub with every call that it has bound, and a way to send each anything. */
export async function setupCalls(t: TestContext) {
  const config = { integrationSecrets: [SECRET], chatSecrets: [CHAT_SECRET] };
  const world = await startApiWorld(t, { config });
  const { baseUrl } = world.hub;
  const send = (endpoint: Endpoint, request: Omit<Exchange, 'path'>) =>
    exchange(baseUrl, {
      path: endpoint.path,
      token: world.home.token,
      ...request,
      headers: { ...proofOf(endpoint, request.body, world.clock.nowMs()), ...request.headers },
    });
  return { world, send, baseUrl, calls: await listBoundCalls(baseUrl) };
}
