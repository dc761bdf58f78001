import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { makeTempDir } from '../temp-dir.ts';
import { toolMissing } from './install-tool.ts';
import { startRecordingProxy } from './recording-proxy.ts';
import { startScriptedModel } from './scripted-model.ts';
import { makeToolPlace } from './tool-place.ts';
import type { ToolName } from './tool-table.ts';
import { say, shell } from './turns.ts';

/** How each tool is started for one prompt on standard input. */
const lines: Readonly<Partial<Record<ToolName, readonly string[]>>> = {
  claude: ['claude', '-p', '--output-format', 'stream-json', '--verbose'],
  codex: ['codex', 'exec', '--json', '--sandbox', 'workspace-write', '-'],
};

describe('a tool of the bench connects to loopback only', { skip: straceMissing() }, () => {
  for (const tool of ['claude', 'codex'] as const) {
    it(`${tool}, by its system calls`, { skip: toolMissing(tool) }, async (t) => {
      const { addresses, port, stdout } = await traceConnections(t, tool);
      assert.match(stdout, /It is done\./);
      assert.ok(addresses.includes(`127.0.0.1:${port}`), addresses.join());
      const foreign = addresses.filter((each) => !/^(127\.|::1:|::ffff:127\.)/.test(each));
      assert.deepEqual(foreign, []);
    });
  }
});

async function traceConnections(t: TestContext, tool: ToolName) {
  const folder = makeTempDir(t);
  const model = await startScriptedModel({ trace: [shell('ls'), say('It is done.')] });
  t.after(() => model.close());
  const proxy = await startRecordingProxy();
  t.after(() => proxy.close());
  const place = { folder, tools: [tool], modelUrl: model.baseUrl, proxyEnv: proxy.env };
  const { env } = makeToolPlace(place);
  const cwd = join(folder, 'work');
  mkdirSync(cwd);
  execFileSync('git', ['init', '--quiet'], { cwd });
  const traceFile = join(folder, 'trace');
  const trace = ['-f', '-qq', '-e', 'trace=connect', '-o', traceFile];
  const child = spawn('strace', [...trace, ...(lines[tool] ?? [])], { cwd, env });
  const stdout = text(child.stdout);
  child.stderr.resume();
  child.stdin.end('Look around. [scenario trace]');
  await once(child, 'close');
  assert.deepEqual(model.unexpected, []);
  assert.deepEqual(proxy.requests, []);
  const found = readFileSync(traceFile, 'utf8').matchAll(
    /sin6?_port=htons\((\d+)\).*?(?:inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)"/g,
  );
  const addresses = [...found].map(([, port, address]) => `${address}:${port}`);
  return { addresses: [...new Set(addresses)], port: model.port, stdout: await stdout };
}

function straceMissing(): string | false {
  const { status } = spawnSync('strace', ['-e', 'trace=none', '-o', '/dev/null', 'true']);
  return status === 0 ? false : 'strace is not installed or may not trace (apt-get install strace)';
}
