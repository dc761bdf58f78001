import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { exchange } from '../support/http-exchange.ts';
import { type ConformanceRow, rowsOf } from './row.ts';
import type { Body, SpecAnswer, SpecClient } from './spec-client.ts';

const ingestPath = '/integrations/events/v1/ingest';
const chatPath = '/integrations/chat/events/v1';
const secretHeader = 'x-svc-integration-event-secret';
const SECRET = 'shared-by-two';
const config = { integrationSecrets: [SECRET], chatSecrets: [SECRET] };

function eventFields({ workspaceId }: SpecClient, key = 'event-1'): Body {
  return {
    workspaceId,
    idempotencyKey: key,
    source: 'tracker',
    type: 'issue.opened',
    title: 'Health check',
    content: 'GET /health would do.',
    sourceRef: `ref-${key}`,
  };
}

function ingest(spec: SpecClient, body: Body, secret: string | null = SECRET): Promise<SpecAnswer> {
  const headers = secret === null ? {} : { [secretHeader]: secret };
  return exchange(spec.baseUrl, { path: ingestPath, body, headers });
}

async function ingestOk(spec: SpecClient, body: Body): Promise<Body> {
  const answer = await ingest(spec, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Signs as the chat's documentation specifies. */
function sendChat(spec: SpecClient, body: Body): Promise<SpecAnswer> {
  const text = JSON.stringify(body);
  const timestamp = String(Math.floor(spec.clock.nowMs() / 1_000));
  const mac = createHmac('sha256', SECRET).update(`v0:${timestamp}:${text}`).digest('hex');
  const headers = {
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${mac}`,
  };
  return exchange(spec.baseUrl, { path: chatPath, body: text, headers });
}

async function readItem(spec: SpecClient, itemId: string): Promise<Body> {
  const { workspaceId } = spec;
  return (await spec.ok('/control-plane/v1/context-items/get', { workspaceId, itemId })).item;
}

/** The specification leaves open how triggers and settings are made: here at the database. */
async function addTrigger(spec: SpecClient, repoId: string): Promise<void> {
  const { workspaceId, clock } = spec;
  await spec.harness.hub.database.write(null, (tx) =>
    tx.runSql(
      `INSERT INTO triggers (workspace_id, trigger_id, name, type, enabled, match, repo_id,
         run_ref_template, prompt_template, priority, hourly_cap, created_by, created_at, updated_at)
       VALUES (?, 'trg_1', 'Issues', 'event', 1, '{"type":"issue.opened"}', ?, 'issues',
         'Plan: {{event.title}}', 0, 60, 'test', ?, ?)`,
      [workspaceId, repoId, clock.nowMs(), clock.nowMs()],
    ),
  );
}

export const integrationServiceRows: ConformanceRow[] = rowsOf('What the service does', [
  [
    'service-integrations-1',
    'Ingest integration events.',
    async (spec) => {
      const hub = await spec.startHub(config);
      const { eventId } = await ingestOk(hub, eventFields(hub));
      assert.equal(typeof eventId, 'string');
    },
  ],
]);

export const integrationEndpointRows: ConformanceRow[] = rowsOf('Endpoints', [
  [
    'integrations-1',
    'POST /integrations/events/v1/ingest: header x-svc-integration-event-secret: <SHARED_SECRET> ' +
      '(its own authentication, not the bearer token).',
    async (spec) => {
      const hub = await spec.startHub(config);
      await ingestOk(hub, eventFields(hub));
      await hub.fail(ingestPath, eventFields(hub), 401);
    },
  ],
  [
    'integrations-2',
    'The payload is scoped to a workspace and is idempotent through the field idempotencyKey.',
    async (spec) => {
      const hub = await spec.startHub(config);
      const first = await ingestOk(hub, eventFields(hub));
      const again = await ingestOk(hub, eventFields(hub));
      assert.equal(again.eventId, first.eventId);
      const other = await ingestOk(hub, eventFields(hub, 'event-2'));
      assert.notEqual(other.eventId, first.eventId);
      const nowhere = await ingest(hub, { ...eventFields(hub), workspaceId: 'ws_none' });
      assert.equal(nowhere.status, 400);
    },
  ],
  [
    'integrations-3',
    'Run triggers of type event that match are scheduled immediately.',
    async (spec) => {
      const hub = await spec.startHub(config);
      const repoId = await hub.addRepository();
      const agentId = await hub.addAgent();
      await addTrigger(hub, repoId);
      await ingestOk(hub, { ...eventFields(hub, 'event-0'), type: 'issue.closed' });
      assert.equal((await hub.claim(agentId)).job ?? null, null);
      await ingestOk(hub, eventFields(hub));
      const { job } = await hub.claim(agentId);
      assert.equal(job.kind, 'create_run');
      assert.match(job.prompt, /^Plan: .*Health check/s);
    },
  ],
  [
    'integrations-4',
    'Content storage follows the workspace data policy.',
    async (spec) => {
      const hub = await spec.startHub(config);
      const { workspaceId } = hub;
      for (const [policy, text] of [
        ['full', 'GET /health would do.'],
        ['metadata', ''],
      ]) {
        await hub.harness.hub.database.write(null, (tx) =>
          tx.runSql('UPDATE workspaces SET content_storage = ? WHERE workspace_id = ?', [
            policy ?? '',
            workspaceId,
          ]),
        );
        const { contextItemId } = await ingestOk(hub, eventFields(hub, policy));
        assert.equal((await readItem(hub, contextItemId)).text, text);
      }
    },
  ],
  [
    'integrations-5',
    'Accepted events go into the context store.',
    async (spec) => {
      const hub = await spec.startHub(config);
      const { contextItemId } = await ingestOk(hub, eventFields(hub));
      const item = await readItem(hub, contextItemId);
      assert.equal(item.title, 'Health check');
      assert.equal(item.text, 'GET /health would do.');
    },
  ],
  [
    'integrations-6',
    'POST /integrations/chat/events/v1: inbound events payloads of a team-chat events API. The ' +
      'chat events endpoint processes inbound payloads as integration events and routes them ' +
      'into the context store.',
    async (spec) => {
      const hub = await spec.startHub(config);
      const { workspaceId, clock } = hub;
      await hub.harness.hub.database.write(null, (tx) =>
        tx.runSql(`INSERT INTO chat_teams VALUES (?, 'T1', '', 'test', ?)`, [
          workspaceId,
          clock.nowMs(),
        ]),
      );
      const event = { type: 'message', channel: 'C1', user: 'U1', text: 'Hi', ts: '1793610000.1' };
      const body = { type: 'event_callback', team_id: 'T1', event_id: 'Ev1', event };
      const answer = await sendChat(hub, body);
      assert.equal(answer.status, 200, answer.text);
      const { items } = await hub.ok('/control-plane/v1/context-items/list', { workspaceId });
      assert.equal((await readItem(hub, items[0].itemId)).text, 'Hi');
      const listed = await hub.ok('/control-plane/v1/integration-events/list', { workspaceId });
      assert.equal(listed.events[0].eventId, answer.body.eventId);
    },
  ],
]);

export const integrationAuthenticationRows: ConformanceRow[] = rowsOf('Authentication', [
  [
    'authentication-integrations-1',
    'Integration ingest: header x-svc-integration-event-secret must equal the value of the ' +
      'deployment environment variable SVC_INTEGRATION_EVENT_SECRET.',
    async (spec) => {
      const hub = await spec.startHub(config);
      for (const secret of [null, '', 'another', `${SECRET} `.repeat(2)]) {
        const answer = await ingest(hub, eventFields(hub), secret);
        assert.equal(answer.status, 401, String(secret));
        assert.equal(answer.body.ok, false);
      }
      await ingestOk(hub, eventFields(hub));
    },
  ],
]);

export const integrationEventRows: ConformanceRow[] = rowsOf('Events', [
  [
    'events-integrations-1',
    'Inbound integration events are ingested through the ingest and chat events endpoints.',
    async (spec) => {
      const hub = await spec.startHub(config);
      await ingestOk(hub, eventFields(hub));
      const { status, body } = await sendChat(hub, { type: 'url_verification', challenge: 'c1' });
      assert.deepEqual([status, body.challenge], [200, 'c1']);
    },
  ],
]);

export const integrationVersionRows: ConformanceRow[] = rowsOf('Versioning', [
  [
    'versioning-integrations-1',
    'Integration paths carry v1 at the end.',
    async (spec) => {
      const { body } = await spec.get('/control-plane/openapi.json');
      const paths = Object.keys(body.paths).filter((path) => path.startsWith('/integrations/'));
      assert.deepEqual(paths.sort(), [chatPath, ingestPath]);
      for (const path of paths) assert.match(path, /\/v1(\/ingest)?$/);
    },
  ],
]);
