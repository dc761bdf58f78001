import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, createClient } from '@signalbox/sdk';
import { type Answer, startHubStandIn } from './hub-stand-in.ts';

const job = { kind: 'job', id: 'job_1' } as const;
const written = (event: string, id: string, changes: object[] = []) =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify({ changes })}\n\n`;

/** Answers with a stream of these pieces, and ends it. */
function stream(...pieces: string[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const piece of pieces) response.write(piece);
    response.end();
  };
}

const refuse: Answer = (response) => {
  response.writeHead(401, { 'content-type': 'application/json' });
  response.end('{"ok":false,"error":"TOKEN_REVOKED","message":"The token was revoked."}');
};

function followerOf(baseUrl: string) {
  const client = createClient({ baseUrl, token: 'secret', random: () => 0, sleep: async () => {} });
  return client.changes.stream({ workspaceId: 'ws_1' });
}

test('continues after the last event when the connection ends, until the hub refuses', async (t) => {
  const hub = await startHubStandIn(t, [
    stream(written('open', 'e-1'), ': keep-alive\n\n', written('changes', 'e-2', [job])),
    stream(written('reset', 'f-1')),
    refuse,
  ]);
  const seen: string[] = [];
  await assert.rejects(
    async () => {
      for await (const { event, id, changes } of followerOf(hub.baseUrl)) {
        seen.push(`${event} ${id} ${changes.length}`);
      }
    },
    (error) => error instanceof ApiError && error.code === 'TOKEN_REVOKED',
  );
  assert.deepEqual(seen, ['open e-1 0', 'changes e-2 1', 'reset f-1 0']);
  const positions = hub.requests.map(({ path }) => new URLSearchParams(path.split('?')[1]));
  assert.deepEqual(
    positions.map((query) => query.get('after')),
    [null, 'e-2', 'f-1'],
  );
  assert.equal(hub.requests[0]?.headers.authorization, 'Bearer secret');
});

test('reads events that arrive in pieces, also within a character', async (t) => {
  const whole = written('changes', 'e-1', [{ kind: 'job', id: 'job_ä' }]);
  const bytes = Buffer.from(whole);
  const at = bytes.indexOf(0xc3) + 1;
  const hub = await startHubStandIn(t, [
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(bytes.subarray(0, at), () => response.end(bytes.subarray(at)));
    },
  ]);
  for await (const { changes } of followerOf(hub.baseUrl)) {
    assert.deepEqual(changes, [{ kind: 'job', id: 'job_ä' }]);
    break;
  }
});

test('a signal ends the stream with its reason', async (t) => {
  const hub = await startHubStandIn(t, [
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(written('open', 'e-1'));
    },
  ]);
  const ending = new AbortController();
  const client = createClient({ baseUrl: hub.baseUrl, token: 'secret' });
  const follower = client.changes.stream({ workspaceId: 'ws_1' }, { signal: ending.signal });
  await assert.rejects(async () => {
    for await (const { event } of follower) {
      assert.equal(event, 'open');
      ending.abort(new Error('enough'));
    }
  }, /enough/);
});
