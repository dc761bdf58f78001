import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type HomeWorld, startHomeWorld } from '../support/home-world.ts';
import { announce } from '../support/upload-setup.ts';

const HALF_MINUTE_MS = 30_000;
const TEN_MINUTES_MS = 600_000;

/** Sends the beginning of a request and waits until the hub has it. */
async function sendHalf({ hub }: HomeWorld, head: string) {
  const { hostname, port } = new URL(hub.baseUrl);
  const socket = connect(Number(port), hostname);
  const received = once(hub.server.server, 'request');
  const rest = `host: ${hostname}:${port}\r\nconnection: close\r\ncontent-length: 10`;
  socket.write(`${head}\r\n${rest}\r\n\r\nhalf`);
  await received;
  // A body that has not arrived by the end of this turn of the event loop gets its limit then.
  await setImmediate();
  return { socket, answer: text(socket) };
}

test('a call with an unfinished body is ended after half a minute', async (t) => {
  const harness = await startHomeWorld(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const head = [
    'POST /control-plane/v1/jobs/list HTTP/1.1',
    'content-type: application/json',
    `authorization: Bearer ${harness.home.token}`,
  ].join('\r\n');
  const { answer, socket } = await sendHalf(harness, head);
  t.mock.timers.tick(HALF_MINUTE_MS - 1);
  assert.equal(socket.readyState, 'open');
  t.mock.timers.tick(1);
  assert.match(await answer, /^HTTP\/1\.1 408 /);
  t.mock.timers.reset();
});

test('an upload may take as long as its URL is valid', async (t) => {
  const harness = await startHomeWorld(t);
  assert.equal(harness.hub.server.server.requestTimeout, TEN_MINUTES_MS);
  const { pathname, search } = new URL((await announce(harness, 10)).uploadUrl);
  const { socket, answer } = await sendHalf(harness, `PUT ${pathname}${search} HTTP/1.1`);
  socket.write(' whole');
  assert.match(await answer, /^HTTP\/1\.1 200 /);
});
