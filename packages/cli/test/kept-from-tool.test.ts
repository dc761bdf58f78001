/** The agent keeps from its tool what the page says, and nothing else: a hostile tool tries it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { basename, delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  configFlag,
  enqueueJob,
  git,
  type HubPlace,
  linkClone,
  makeClone,
  startHub,
  useServiceToken,
} from './harness.ts';
import { columns, keptRows, MARK, probingTool } from './kept-from-tool.ts';

const page = join(import.meta.dirname, '../../../docs/operate/security.md');
const streams = join(import.meta.dirname, '../../agent/test/executors/streams');

/** A user of every system, without rights. */
const USER = 'daemon';
const isRoot = process.geteuid?.() === 0;

const bwrapDirectory = [
  process.env.TEST_BUBBLEWRAP ?? '',
  ...(process.env.PATH ?? '').split(delimiter),
].find((each) => each !== '' && existsSync(join(each, 'bwrap')));

/** Where it does not work, tests of the agent show the refusal. */
const canWrap =
  bwrapDirectory !== undefined &&
  spawnSync(join(bwrapDirectory, 'bwrap'), [
    ...['--ro-bind', '/', '/', '--proc', '/proc', '--unshare-pid', 'true'],
  ]).status === 0;

const ways: readonly { settings: object; skip: string | false }[] = [
  { settings: {}, skip: isRoot ? false : 'systems may keep the memory of processes from others' },
  {
    settings: { 'run-as': USER },
    skip: isRoot ? false : 'only root can start a tool as another user',
  },
  ...(canWrap ? [{ settings: { isolation: 'wrap' }, skip: false } as const] : []),
];

test('each row of the table is one of these, word for word', () => {
  const [, section = ''] = readFileSync(page, 'utf8').split(
    '## What the agent keeps from the tool',
  );
  const lines = section.split('\n## ')[0]?.split('\n') ?? [];
  const [head = [], , ...rows] = lines
    .filter((line) => line.startsWith('|'))
    .map((line) => line.replaceAll("'", '’').slice(1, -1).split('|'))
    .map((cells) => cells.map((cell) => cell.trim()));
  assert.deepEqual(head, ['', ...columns]);
  assert.deepEqual(
    rows,
    Object.entries(keptRows).map(([row, { cells }]) => [row, ...cells]),
  );
});

describe('what the agent keeps from a hostile tool', () => {
  let place: HubPlace;
  let clone: string;
  let repoId: string;
  let token: string;
  let listener: Server;
  let socketServer: Server;
  let port: number;
  let written: string[] = [];
  const socket = `/tmp/signalbox-${randomBytes(6).toString('hex')}.sock`;
  const at = (...names: string[]) => join(place.directory, ...names);

  before(async () => {
    place = await startHub();
    token = await useServiceToken(place);
    clone = makeClone(place);
    repoId = await linkClone(place, clone);
    for (const path of [clone, makeClone(place, 'other')]) chmodSync(path, 0o700);
    for (const name of ['.ssh', '.claude', 'bin']) mkdirSync(at(name), { mode: 0o755 });
    const secrets = ['.ssh/id', 'agent.token', 'config/credentials.json'];
    const login = '{"version":1,"logins":[]}\n';
    for (const name of secrets) writeFileSync(at(name), login, { mode: 0o600 });
    for (const name of ['open.txt', '.claude/settings.json']) writeFileSync(at(name), '{}\n');
    mkdirSync(at('ran'));
    chmodSync(at('ran'), 0o777);
    writeFileSync(at('bin/program'), `#!/bin/sh\ntouch ${at('ran/program')}\ncat\n`);
    chmodSync(at('bin/program'), 0o755);
    const stream = readFileSync(join(streams, 'claude-success.jsonl'));
    writeFileSync(at('bin/stream'), stream, { mode: 0o644 });
    listener = createServer((connection) => {
      connection.on('error', () => {});
      connection.once('data', () => {
        written = takeWritten(place.directory);
        connection.end('seen\n');
      });
    }).listen(0, '127.0.0.1');
    socketServer = createServer().listen(socket);
    await Promise.all([once(listener, 'listening'), once(socketServer, 'listening')]);
    const address = listener.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
    // The directories of the test are the owner's alone.
    const parent = dirname(place.directory);
    chmodSync(parent, statSync(parent).mode | 0o011);
    chmodSync(place.directory, 0o711);
  });
  after(async () => {
    for (const server of [listener, socketServer]) server?.close();
    await place.end();
  });

  for (const [number, { settings, skip }] of ways.entries()) {
    test(`${columns[number]}: each row is true`, { skip }, async () => {
      const found = await probe(number, settings);
      const expected = Object.values(keptRows).flatMap(({ finds }) =>
        Object.entries(finds).map(([name, answers]) => `${name} ${answers[number]}`),
      );
      assert.deepEqual(found.toSorted(), expected.toSorted());
    });
  }

  /** Runs the tool, and returns a line for each probe. */
  async function probe(number: number, settings: object): Promise<string[]> {
    const stateDir = at(`state-${number}`);
    const tool = probingTool({
      home: place.directory,
      config: at('config'),
      stateDir,
      clone,
      token,
      port,
      socket,
      program: at('bin/program'),
      stream: at('bin/stream'),
    });
    writeFileSync(at('bin/claude'), tool);
    chmodSync(at('bin/claude'), 0o755);
    const all = {
      ...settings,
      'state-dir': stateDir,
      tool: { name: 'claude', protocol: 'cli' },
      ...('isolation' in settings ? { readable: [at('bin')] } : {}),
    };
    const agent = place.start(['agent', 'start', ...configFlag(place, all)], {
      env: {
        ANTHROPIC_API_KEY: 'key-of-the-person',
        SVC_PORT: '1',
        PATH: [at('bin'), bwrapDirectory, place.env.PATH].join(delimiter),
      },
    });
    await agent.says(/online/);
    const jobId = await enqueueJob(place, repoId, `agent-pid ${agent.child.pid}`, {
      maxAttempts: 1,
    });
    await agent.says(/✔.*done in|✖/);
    const isLeft = endLeft(`left-${jobId}`);
    agent.child.kill('SIGTERM');
    const { stdout, stderr } = await agent.ended;
    const shown = JSON.parse((await place.run(['job', jobId, '--json'])).stdout);
    const { branch } = shown.job.evidence ?? {};
    assert.ok(branch, `${stdout}${stderr}${JSON.stringify(shown)}`);
    const writes = Object.values(keptRows).flatMap(({ finds }) =>
      Object.keys(finds).filter((name) => name.startsWith('write-') && name !== 'write-settings'),
    );
    const isRun = existsSync(at('ran/program'));
    rmSync(at('ran/program'), { force: true });
    return [
      ...git(clone, 'show', `${branch}:probes.txt`).split('\n'),
      ...writes.map((name) => `${name} ${written.includes(name) ? 'yes' : 'no'}`),
      `left-process ${isLeft ? 'yes' : 'no'}`,
      `git-program ${isRun ? 'yes' : 'no'}`,
    ];
  }
});

/** Removes the files that the tool could write, and returns their names. */
function takeWritten(directory: string): string[] {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const found = files.filter((file) => basename(file).startsWith(MARK));
  for (const file of found) rmSync(join(directory, file));
  return found.map((file) => basename(file).slice(MARK.length));
}

/** Ends the processes with an argument; says whether there was one. */
function endLeft(name: string): boolean {
  let isFound = false;
  for (const pid of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!line.split('\0').includes(name)) continue;
    } catch {
      // It has ended.
      continue;
    }
    isFound = true;
    process.kill(Number(pid), 'SIGKILL');
  }
  return isFound;
}
