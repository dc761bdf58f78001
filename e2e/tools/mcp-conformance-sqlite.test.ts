import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify, stripVTControlCharacters } from 'node:util';
import { type HubProcess, startHubProcess } from '../hub-process.ts';
import { callConsole, makeOwner } from '../person.ts';
import { makeTempDir } from '../temp-dir.ts';
import { needTool, toolMissing } from './install-tool.ts';

/** Those that need no tools of a test server. The runner has no revision after 2025-11-25. */
const scenarios = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'];
const LIMIT_MS = 60_000;
const run = promisify(execFile);

describe('the conformance runner of the Model Context Protocol', {
  skip: toolMissing('mcp-conformance'),
}, () => {
  const [dataDir, cwd] = [makeTempDir({ after }), makeTempDir({ after })];
  let hub: HubProcess;
  let way: Server;
  before(async () => {
    hub = await startHubProcess({ dataDir });
    const { baseUrl, cookie, workspaceId } = await makeOwner(hub);
    const draft = { workspaceId, name: 'runner', scopes: ['read'] };
    const { answer } = await callConsole(baseUrl, 'service-tokens/mint', draft, cookie);
    way = await openWith(String(answer.token), new URL(baseUrl));
  });
  after(async () => {
    way?.close();
    await hub?.stop();
  });

  for (const scenario of scenarios) {
    it(scenario, async () => {
      const { port } = way.address() as AddressInfo;
      const place = ['--url', `http://127.0.0.1:${port}/mcp`, '--scenario', scenario];
      const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
      const options = { env, timeout: LIMIT_MS, cwd };
      const { command } = needTool('mcp-conformance');
      const { stdout } = await run(command, ['server', ...place], options);
      const [, passed, all] = /Passed: (\d+)\/(\d+)/.exec(stripVTControlCharacters(stdout)) ?? [];
      assert.ok(Number(all) > 0 && passed === all, stdout);
    });
  }
});

/** A way to the hub that adds a token, which the runner cannot send. */
async function openWith(token: string, { hostname, port }: URL): Promise<Server> {
  const server = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${token}` };
    const { method, url: path } = asked;
    const sent = request({ hostname, port, method, path, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 0, got.headers);
      got.pipe(answer);
    });
    asked.pipe(sent);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}
