import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endpointPaths } from 'virtual:contract-data';
import { consoleEndpoints, consolePathOf, mirroredEndpoints } from '@signalbox/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { callHub } from '../src/api/hub-call.ts';
import { HubError } from '../src/api/hub-error.ts';

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((done) => (server ? server.close(done) : done(undefined)));
  server = undefined;
});

/** Starts a hub that answers with a listener, at the URL of the test's page. */
async function startHub(answer: RequestListener): Promise<void> {
  server = createServer(answer);
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  // happy-dom's own API to set the URL of the page.
  (window as unknown as { happyDOM: { setURL: (url: string) => void } }).happyDOM.setURL(
    `http://127.0.0.1:${port}/`,
  );
}

const failureOf = (call: Promise<unknown>): Promise<HubError> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(HubError);
      return error as HubError;
    },
  );

test('every endpoint has its path from the contract', () => {
  for (const [group, rows] of Object.entries({ ...consoleEndpoints, ...mirroredEndpoints })) {
    for (const [action, row] of Object.entries(rows)) {
      const paths: Readonly<Record<string, Readonly<Record<string, string>>>> = endpointPaths;
      expect(paths[group]?.[action]).toBe(consolePathOf(row));
      expect(paths[group]?.[action]).toMatch(/^\/console-api\/v[12]\//);
    }
  }
});

describe('a call', () => {
  test('posts JSON to the mirrored path and returns the answer', async () => {
    let seen: unknown;
    await startHub((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { method, url, headers } = request;
        const body = JSON.parse(Buffer.concat(parts).toString());
        seen = { method, url, type: headers['content-type'], body };
        response.end('{"ok":true,"jobs":[],"nextCursor":null}');
      });
    });
    const answer = await callHub('jobs', 'list', { workspaceId: 'ws_1', status: 'failed' });
    expect(answer).toEqual({ ok: true, jobs: [], nextCursor: null });
    expect(seen).toEqual({
      method: 'POST',
      url: '/console-api/v1/jobs/list',
      type: 'application/json',
      body: { workspaceId: 'ws_1', status: 'failed' },
    });
  });

  test('fails with the code, message, request ID and details of the hub', async () => {
    const details = [{ path: '/password', message: 'Too common.' }];
    await startHub((_request, response) => {
      response.statusCode = 400;
      response.end(
        JSON.stringify({
          ok: false,
          error: 'INVALID_REQUEST',
          message: 'Choose another password.',
          requestId: 'req_1',
          details,
        }),
      );
    });
    const error = await failureOf(callHub('session', 'get', {}));
    expect(error).toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'Choose another password.',
      requestId: 'req_1',
      details,
    });
  });

  test.each([
    [502, '<h1>Bad gateway</h1>'],
    [200, 'null'],
    [200, '<!doctype html>'],
    [500, '{}'],
  ])('fails with ANSWER_UNREADABLE for %d %s', async (status, body) => {
    await startHub((_request, response) => {
      response.statusCode = status;
      response.end(body);
    });
    expect((await failureOf(callHub('session', 'get', {}))).code).toBe('ANSWER_UNREADABLE');
  });

  test('fails with UNREACHABLE when the connection breaks', async () => {
    await startHub((request) => request.socket.destroy());
    const error = await failureOf(callHub('session', 'get', {}));
    expect(error.code).toBe('UNREACHABLE');
    expect(error.requestId).toBeNull();
  });

  test('that the page aborts rejects with an abort, not with a failure of the hub', async () => {
    const stop = new AbortController();
    await startHub(() => stop.abort());
    const outcome = await callHub('session', 'get', {}, stop.signal).catch((error) => error);
    expect(outcome).toHaveProperty('name', 'AbortError');
  });
});
