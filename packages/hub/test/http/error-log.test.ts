import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { HubError } from '../../src/base/errors.ts';
import { UnavailableLog } from '../../src/http/unavailable-log.ts';
import { createBareServer } from '../support/bare-server.ts';
import { until } from '../support/until.ts';

test('a body that breaks off leaves no error in the log', async (t) => {
  const log = new PassThrough();
  const { server } = createBareServer({ level: 'info', stream: log });
  let answered = 0;
  server.post('/', async () => ({}));
  server.addHook('onSend', (_request, _reply, _payload, done) => {
    answered += 1;
    done();
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  log.read();
  const socket = connect(Number(new URL(server.listeningOrigin).port), '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n');
  socket.write('content-length: 100\r\n\r\n{"half');
  await once(socket, 'connect');
  await once(server.server, 'request');
  socket.destroy();
  await until('the request ends', () => answered === 1);
  await until('the request is logged', () => log.readableLength > 0);
  const lines = String(log.read()).trim().split('\n');
  const logged = lines.map((line) => JSON.parse(line) as { level: number; error: string });
  const INFO = 30;
  assert.deepEqual(
    logged.map(({ level, error }) => [level, error]),
    [[INFO, 'INVALID_REQUEST']],
  );
});

test('an outage leaves a line when it begins and one each ten seconds, without stacks', async (t) => {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const { server } = createBareServer({ level: 'error', stream });
  t.after(() => server.close());
  const away = new HubError('UNAVAILABLE', 'Away.', { cause: new Error('connection refused') });
  server.get('/', async () => {
    throw away;
  });
  for (let count = 0; count < 5; count++) {
    assert.equal((await server.inject({ url: '/' })).statusCode, 503);
  }
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /"reason":"connection refused","refused":1,"msg":"Away\."/);
  assert.doesNotMatch(lines[0] ?? '', /stack/);

  let nowMs = 0;
  const counted = new UnavailableLog(() => nowMs);
  for (let second = 0; second < 25; second++) {
    nowMs = second * 1_000;
    counted.add(server.log, 'req_1', away);
  }
  const counts = lines.slice(1).map((line) => /"refused":(\d+)/.exec(line)?.[1]);
  assert.deepEqual(counts, ['1', '10', '10']);
});
