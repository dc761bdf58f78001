import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import { configFlag, type HubPlace, makeClone, onTerminal, startHub } from './harness.ts';

/** Plays npm: notes its arguments, and installs a package that only exists. */
const npmScript = `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
const args = process.argv.slice(2);
appendFileSync(process.env.NPM_CALLS, JSON.stringify(args) + '\\n');
if (process.env.NPM_FAILS) {
  console.error('npm error code ENOTFOUND\\nnpm error network request to the registry failed');
  process.exit(1);
}
const folder = args[args.indexOf('--prefix') + 1];
const file = join(folder, 'node_modules', args.at(-1).replace(/@[^@/]*$/, ''), 'dist/index.js');
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, '');
`;

let place: HubPlace;
let clone: string;
let calls: string;
let adapter: string;
before(async () => {
  place = await startHub({ SVC_DEV_ALLOW_UNAUTH: 'true' });
  place.env.SIGNALBOX_WORKSPACE = 'dev';
  clone = makeClone(place, 'api');
  await place.run(['repo', 'link', '.'], { cwd: clone });
  const commands = join(place.directory, 'commands');
  const claude = '#!/bin/sh\n[ "$1" = --version ] && echo "2.1.330 (Claude Code)"\nexit 0\n';
  writeFileSync(join(commands, 'claude'), claude, { mode: 0o755 });
  const npm = join(place.directory, 'npm/bin/npm-cli.js');
  mkdirSync(dirname(npm), { recursive: true });
  writeFileSync(join(place.directory, 'npm/package.json'), '{"type":"module"}');
  writeFileSync(npm, npmScript, { mode: 0o755 });
  symlinkSync(npm, join(commands, 'npm'));
  calls = join(place.directory, 'npm-calls');
  place.env.NPM_CALLS = calls;
});
after(async () => await place.end());
let states = 0;
beforeEach(() => {
  states += 1;
  place.env.SIGNALBOX_STATE_DIR = join(place.directory, `state-${states}`);
  adapter = join(
    place.env.SIGNALBOX_STATE_DIR,
    'adapters/claude-agent-acp@0.101.0/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js',
  );
  writeFileSync(calls, '');
});

const line = ['agent', 'start', '--tool', 'claude'];

async function startAndStop(...flags: string[]): Promise<string> {
  const agent = place.start([...(flags.length === 0 ? line : ['agent', 'start']), ...flags]);
  await agent.says(/waiting for jobs/);
  agent.child.kill('SIGTERM');
  const { stdout } = await agent.ended;
  return stdout;
}

test('without a terminal nothing is downloaded, and the agent says what is lost', async () => {
  const stdout = await startAndStop();
  assert.match(stdout, /Tool +claude 2\.1\.330 · permission mode acceptEdits/);
  assert.match(stdout, /Warning +claude runs by its own command line and cannot ask you/);
  assert.equal(readFileSync(calls, 'utf8'), '');
});

test('protocol: acp installs the adapter in its exact version, without scripts, once', async () => {
  const flags = configFlag(place, { tool: { name: 'claude', protocol: 'acp' } });
  const stdout = await startAndStop(...flags);
  assert.match(stdout, /Tool +claude.* over ACP/);
  assert.ok(existsSync(adapter));
  const [call] = readFileSync(calls, 'utf8').trim().split('\n');
  const args: string[] = JSON.parse(call ?? '[]');
  assert.equal(args.at(-1), '@agentclientprotocol/claude-agent-acp@0.101.0');
  assert.ok(args.includes('--ignore-scripts') && args.includes('--omit=optional'));
  // From now on it is there, and no setting is needed.
  assert.match(await startAndStop(), /Tool +claude.* over ACP/);
  assert.equal(readFileSync(calls, 'utf8').trim().split('\n').length, 1);
});

test('without a network the start is refused where ACP is needed, with what to do', async () => {
  place.env.NPM_FAILS = '1';
  const flags = configFlag(place, { tool: { name: 'claude' }, permissions: ['ask *'] });
  const { exitCode, stderr } = await place.run([...line.slice(0, 2), ...flags]);
  delete place.env.NPM_FAILS;
  assert.equal(exitCode, exitCodes.usage);
  assert.match(stderr, /could not be installed: network request to the registry failed/);
  assert.match(stderr, /npm install --global @agentclientprotocol\/claude-agent-acp@0\.101\.0/);
  assert.ok(!existsSync(adapter));
});

test('on a terminal a person is asked, with what, how large and where', async () => {
  const refusing = onTerminal(place, clone, 100, line);
  await refusing.shows(
    /claude-agent-acp@0\.101\.0, 78 MB, from npm into .*adapters[\s\S]*Install it/,
  );
  // The second choice.
  refusing.type('\u001b[B\r');
  await refusing.shows(/cannot ask you[\s\S]*waiting for jobs/);
  refusing.type('\u0003');
  await refusing.ended;
  assert.equal(readFileSync(calls, 'utf8'), '');
  const agreeing = onTerminal(place, clone, 100, line);
  await agreeing.shows(/Install the adapter\?/);
  agreeing.type('\r');
  await agreeing.shows(/claude.* over ACP[\s\S]*waiting for jobs/);
  agreeing.type('\u0003');
  await agreeing.ended;
  assert.ok(existsSync(adapter));
});

test('a network that fails after the answer leaves the own command line of the tool', async () => {
  place.env.NPM_FAILS = '1';
  const agent = onTerminal(place, clone, 100, line);
  await agent.shows(/Install the adapter\?/);
  agent.type('\r');
  await agent.shows(/could\s+not be installed[\s\S]*waiting for jobs/);
  agent.type('\u0003');
  await agent.ended;
  delete place.env.NPM_FAILS;
  assert.ok(!existsSync(adapter));
});
