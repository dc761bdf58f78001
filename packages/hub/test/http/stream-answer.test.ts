import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { Api } from '../../src/http/bind.ts';
import type { Gatekeeper } from '../../src/http/gatekeeper.ts';
import { SharedAnswers } from '../../src/http/shared-answers.ts';
import type { Principal } from '../../src/principal.ts';
import { createBareServer } from '../support/bare-server.ts';

const { export: row } = consoleEndpoints.auditLog;

const somebody: Principal = {
  kind: 'person',
  principalId: 'usr_1',
  displayName: 'Ada',
  workspaceId: null,
  scopes: new Set(),
  tokenId: 'session',
  personId: 'usr_1',
  sessionId: 'ses_1',
  job: null,
  expiresAtMs: null,
};
const enter = async () => somebody;
const openGate: Gatekeeper = {
  authenticate: {
    none: enter,
    bearer: enter,
    session: enter,
    'integration-secret': enter,
    'chat-signature': enter,
    'signed-url': enter,
  },
  actAs: (_principal, _cost, run) => run(),
  accessVersion: () => 0,
  watchAccess: () => () => undefined,
  enterWorkspace: enter,
};

test('an answer that fails midway is cut off and never looks complete', async (t) => {
  const { server, limiter } = createBareServer();
  t.after(() => server.close());
  const api = new Api(server, {
    gatekeeper: openGate,
    limiter,
    sharedAnswers: new SharedAnswers(() => false),
  });
  async function* lines() {
    yield 'one\n';
    yield 'two\n';
    throw new Error('the database is gone');
  }
  api.bindStream(row, async () => ({
    contentType: 'application/x-ndjson',
    fileName: 'log.jsonl',
    body: Readable.from(lines()),
  }));
  api.finish();
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  await assert.rejects(async () => {
    const response = await fetch(address + row.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"workspaceId":"ws_1"}',
    });
    await response.text();
  }, TypeError);
});
