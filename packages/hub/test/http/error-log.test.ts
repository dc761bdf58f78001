import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
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
  assert.equal(log.read(), null);
});
