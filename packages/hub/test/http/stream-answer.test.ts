import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { Api } from '../../src/http/bind.ts';
import { SharedAnswers } from '../../src/http/shared-answers.ts';
import { createBareServer } from '../support/bare-server.ts';
import { createOpenGate } from '../support/open-gate.ts';

const { export: row } = consoleEndpoints.auditLog;

test('an answer that fails midway is cut off and never looks complete', async (t) => {
  const { server, limiter } = createBareServer();
  t.after(() => server.close());
  const api = new Api(server, {
    gatekeeper: createOpenGate(),
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
