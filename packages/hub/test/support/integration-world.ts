import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  consoleEndpoints,
  type Endpoint,
  endpoints,
  INTEGRATION_SECRET_HEADER,
  type IntegrationEvent,
  type RequestOf,
  type ResponseOf,
  type Trigger,
} from '@signalbox/contract';
import type { TObject } from 'typebox';
import { mapChatTeam } from '../../src/integrations/chat-teams.ts';
import {
  CHAT_SIGNATURE_HEADER,
  CHAT_TIMESTAMP_HEADER,
  signChatEvent,
} from '../../src/integrations/proofs.ts';
import { type ConsolePerson, signInFirstOwner } from './console-person.ts';
import { type HomeWorld, startHomeWorld } from './home-world.ts';
import { type Answer, exchange } from './http-exchange.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import type { TestHubOptions } from './test-hub.ts';

const { integrations, integrationEvents } = endpoints;
const { triggerSettings } = consoleEndpoints;

export const SECRET = 'an old lantern';
export const NEXT_SECRET = 'a new lantern';
export const CHAT_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
export const TEAM = 'T024BE7LD';

type IngestAnswer = ResponseOf<typeof integrations.ingest>;
type ChatAnswer = ResponseOf<typeof integrations.chatEvents>;
export type TriggerDraft = Partial<RequestOf<typeof triggerSettings.create>>;

export interface IntegrationWorld extends HomeWorld {
  clock: ManualClock;
  /** An owner of `home`, at the console. */
  owner: ConsolePerson;
  /** Calls the console as the owner and expects success. */
  atConsole<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    body: RequestOf<Endpoint<Req, Res>>,
  ): Promise<ResponseOf<Endpoint<Req, Res>>>;
  /** An event for `home` in the hub's own fields. */
  event(fields?: Record<string, unknown>): Record<string, unknown>;
  sendEvent(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  ingest(fields?: Record<string, unknown>): Promise<IngestAnswer>;
  addTrigger(draft?: TriggerDraft): Promise<Trigger>;
  /** Sends bytes as the chat would, signed now unless the headers say otherwise. */
  sendChat(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  chat(body: unknown): Promise<ChatAnswer>;
  mapTeam(): Promise<void>;
  readEvent(eventId: string): Promise<IntegrationEvent>;
}

let drawn = 0;

export async function startIntegrationWorld(
  t: TestContext,
  options: TestHubOptions & { clock?: ManualClock } = {},
): Promise<IntegrationWorld> {
  const clock = options.clock ?? createManualClock();
  const config = {
    integrationSecrets: [SECRET, NEXT_SECRET],
    chatSecrets: [CHAT_SECRET],
    ...options.config,
  };
  const harness = await startHomeWorld(t, { ...options, clock, config });
  const owner = await signInFirstOwner(harness);
  const { workspaceId } = harness.home;
  await harness.hub.database.write(null, (tx) =>
    tx.runSql(`UPDATE memberships SET role = 'owner' WHERE workspace_id = ?`, [workspaceId]),
  );
  const world = Object.assign(harness, { clock, owner }) as IntegrationWorld;
  addCalls(world);
  addChatCalls(world);
  return world;
}

function addCalls(world: IntegrationWorld): void {
  const { hub, owner, home } = world;
  const { workspaceId, repoId } = home;
  Object.assign(world, {
    async atConsole(endpoint, body) {
      const answer = await owner.send(endpoint.path, body);
      assert.equal(answer.status, 200, `${endpoint.name}: ${answer.text}`);
      return answer.body as ResponseOf<typeof endpoint>;
    },
    event: (fields = {}) => ({
      workspaceId,
      idempotencyKey: `key-${++drawn}`,
      source: 'tracker',
      type: 'issue.opened',
      title: 'Load balancer needs a health check',
      content: 'Since the move the balancer has nothing to ask.',
      data: { labels: ['api'], number: 4711 },
      ...fields,
    }),
    sendEvent: (body, headers = {}) =>
      exchange(hub.baseUrl, {
        path: integrations.ingest.path,
        body,
        headers: { [INTEGRATION_SECRET_HEADER]: SECRET, ...headers },
      }),
    async ingest(fields) {
      const answer = await world.sendEvent(world.event(fields));
      assert.equal(answer.status, 200, answer.text);
      return answer.body as IngestAnswer;
    },
    async addTrigger(draft = {}) {
      const { trigger } = await world.atConsole(triggerSettings.create, {
        workspaceId,
        name: 'Issues',
        type: 'event',
        ...(draft.type === 'schedule' ? {} : { match: { type: 'issue.opened' } }),
        repoId,
        runRefTemplate: 'issue-{{event.data.number}}',
        promptTemplate: 'Plan: {{event.title}}\n{{event.content}}',
        ...draft,
      });
      return trigger;
    },
    async readEvent(eventId) {
      return (await world.call(integrationEvents.get, { workspaceId, eventId })).event;
    },
  } satisfies Partial<IntegrationWorld>);
}

function addChatCalls(world: IntegrationWorld): void {
  const { hub, clock, home } = world;
  Object.assign(world, {
    sendChat(body, headers) {
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      const signed = signatureHeaders(bytes, { nowMs: clock.nowMs() });
      return exchange(hub.baseUrl, {
        path: integrations.chatEvents.path,
        body: bytes,
        headers: headers ?? signed,
      });
    },
    async chat(body) {
      const answer = await world.sendChat(body);
      assert.equal(answer.status, 200, answer.text);
      return answer.body as ChatAnswer;
    },
    async mapTeam() {
      const { workspaceId } = home;
      const team = { workspaceId, teamId: TEAM, name: 'Acme' };
      await hub.database.write(null, (tx) => mapChatTeam(tx, team));
    },
  } satisfies Partial<IntegrationWorld>);
}

/** The headers that the chat service sends with a body. */
export function signatureHeaders(
  bytes: Uint8Array,
  { nowMs, secret = CHAT_SECRET }: { nowMs: number; secret?: string },
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  return {
    [CHAT_TIMESTAMP_HEADER]: timestamp,
    [CHAT_SIGNATURE_HEADER]: signChatEvent(secret, timestamp, bytes),
  };
}

/** How many rows a table has. */
export async function countRows({ hub }: HomeWorld, table: string): Promise<number> {
  const row = await hub.database.reader.firstSql<{ count: number }>(
    `SELECT COUNT(*) AS count FROM ${table}`,
    [],
  );
  return row?.count ?? 0;
}
