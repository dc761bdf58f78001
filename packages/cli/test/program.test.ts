import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { dailyCommands } from '../src/command-table.ts';
import { commandTable, exitCodes, exitMeanings } from '../src/index.ts';
import { buildProgram, findCommand } from '../src/program.ts';
import { launcherFile as launcher, makePlace, type Place } from './harness.ts';

let place: Place;
before(() => {
  place = makePlace();
});
after(async () => await place.end());

const commandsDir = join(import.meta.dirname, '../src/commands');

test('every command has its own file, and every file of a command is in the table', async () => {
  const loaded = await Promise.all(commandTable.map(async ({ load }) => (await load()).command));
  const files = readdirSync(commandsDir, { recursive: true, encoding: 'utf8' });
  const modules = await Promise.all(
    files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => import(pathToFileURL(join(commandsDir, file)).href)),
  );
  // Files without a `command` are shared by the commands of their folder.
  const defined = modules.flatMap((module) => ('command' in module ? [module.command] : []));
  assert.equal(new Set(loaded).size, commandTable.length);
  assert.deepEqual(new Set(defined), new Set(loaded));
});

test('every command has a description, --json and a description of each option', async () => {
  for (const entry of commandTable) {
    const { command } = await entry.load();
    const program = buildProgram(new Map([[entry, command]]));
    const described = entry.words.reduce(
      (parent, word) => parent.commands.find((child) => child.name() === word) ?? parent,
      program,
    );
    assert.match(described.description(), /^[A-Z].*\.$/);
    for (const { long, description } of described.options) assert.ok(description, `${long}`);
    const takesJson = described.options.some(({ long }) => long === '--json');
    assert.ok(takesJson || entry.words[0] === 'completion', entry.words.join(' '));
  }
});

test('the first help is one screen of what a person needs every day', async () => {
  const { stdout, exitCode } = await place.run([]);
  assert.equal(exitCode, exitCodes.ok);
  const lines = stdout.trimEnd().split('\n');
  assert.ok(lines.length <= 24 && lines.every(({ length }) => length <= 80), stdout);
  for (const words of dailyCommands) assert.ok(stdout.includes(`\n  ${words} `), words);
  assert.match(stdout, /signalbox help --all/);
  assert.equal((await place.run(['--help'])).stdout, stdout);
});

test('doctor says whether tools can be wrapped, and if not, why', async () => {
  const bin = join(place.directory, 'wrap-bin');
  mkdirSync(bin);
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const findIt = async () => {
    const { stdout } = await place.run(['doctor', '--json'], { env });
    const { findings } = JSON.parse(stdout) as { findings: { name: string }[] };
    return findings.find(({ name }) => name === 'Isolation');
  };
  const words = 'bwrap: No permissions to create a new namespace';
  const script = `#!/bin/sh\necho "${words}" >&2; exit 1\n`;
  writeFileSync(join(bin, 'bwrap'), script, { mode: 0o755 });
  assert.deepEqual(await findIt(), {
    name: 'Isolation',
    state: 'missing',
    message: `bubblewrap does not work here: ${words}`,
  });
});

test('the complete help names every command and every exit code', async () => {
  const { stdout, exitCode } = await place.run(['help', '--all']);
  assert.equal(exitCode, exitCodes.ok);
  for (const { words } of commandTable) assert.ok(stdout.includes(`  ${words.join(' ')} `));
  for (const [code, meaning] of exitMeanings) {
    assert.ok(stdout.includes(`${String(code).padStart(3)}   ${meaning}`), meaning);
  }
  assert.equal(exitMeanings.length, Object.keys(exitCodes).length);
  const { stdout: asked } = await place.run(['help', 'jobs']);
  assert.match(asked, /^Usage: signalbox jobs/);
});

test('an old name is answered with the new one, as a usage error', async () => {
  const cases = [
    [['agent', 'config'], 'signalbox agent start --dry-run'],
    [['agent', 'install', '--json'], 'signalbox agent service install'],
    [['help', 'tokens', 'mint'], 'signalbox tokens create'],
    [['admin', 'member', 'add', '--role', 'owner'], 'signalbox admin members invite'],
    [['agent', 'start', '--executor', 'claude'], 'Use --tool.'],
    [['agent', 'start', '--hold=10m'], 'Use the key hold of agent.yaml.'],
    [['queue', 'pause', '--repo', '.'], 'Use signalbox repo pause.'],
  ] as const;
  for (const [line, fix] of cases) {
    const { exitCode, stderr } = await place.run(line);
    assert.equal(exitCode, exitCodes.usage, stderr);
    assert.match(stderr, /RENAMED/);
    assert.ok(stderr.includes(fix), stderr);
  }
});

test('agent start has at most 15 flags, and each that is gone is answered', async () => {
  const entry = commandTable.find(({ words }) => words.join(' ') === 'agent start');
  assert.ok(entry);
  const program = buildProgram(new Map([[entry, (await entry.load()).command]]));
  const flags = entry.words
    .reduce((parent, word) => parent.commands.find((one) => one.name() === word) ?? parent, program)
    .options.map(({ long }) => long);
  assert.ok(flags.length <= 15, flags.join(' '));
});

test('a mistyped command gets a suggestion, and an incomplete one lists its subcommands', async () => {
  const mistyped = await place.run(['jbos']);
  assert.equal(mistyped.exitCode, exitCodes.usage);
  assert.match(mistyped.stderr, /Did you mean jobs/);
  const half = await place.run(['repo', '--json']);
  assert.equal(half.exitCode, exitCodes.usage);
  assert.match(JSON.parse(half.stderr).message, /link, list/);
});

test('a command is found by its leading words, with flags in between', () => {
  assert.deepEqual(findCommand(['repo', 'link', '.'])?.words, ['repo', 'link']);
  assert.deepEqual(findCommand(['--json', 'jobs'])?.words, ['jobs']);
  assert.deepEqual(findCommand(['help', 'agent', 'start'])?.words, ['agent', 'start']);
  assert.equal(findCommand(['repo']), undefined);
});

test('bash completion completes commands and flags', async () => {
  const { stdout } = await place.run(['completion', 'bash']);
  const complete = (words: readonly string[]) => {
    const script = `${stdout}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}; _signalbox; echo "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ');
  };
  assert.deepEqual(complete(['signalbox', 'enq']), ['enqueue']);
  assert.deepEqual(complete(['signalbox', 'repo', 'l']), ['link', 'list']);
  assert.deepEqual(complete(['signalbox', 'admin', 'tokens', 'c']), ['create']);
  assert.deepEqual(complete(['signalbox', 'jobs', '--st']), ['--status']);
});

/** Returns a module that makes this Node report another version. */
function pretendNode(version: string): string {
  const file = join(place.directory, `node-${version}.cjs`);
  const value = `{ value: { ...process.versions, node: '${version}' } }`;
  writeFileSync(file, `Object.defineProperty(process, 'versions', ${value});\n`);
  return file;
}

test('the launcher uses the bundled Node when the current one is too old', () => {
  const args = ['--require', pretendNode('20.9.0'), launcher, 'jobs', '--limit', 'x'];
  const { status, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: place.env,
  });
  assert.equal(status, exitCodes.usage);
  assert.match(stderr, /--limit/);
});

test('the launcher reports in one sentence that no suitable Node was found', () => {
  const lonely = join(place.directory, 'lonely', 'bin');
  mkdirSync(lonely, { recursive: true });
  cpSync(launcher, join(lonely, 'signalbox.mjs'));
  const args = ['--require', pretendNode('20.9.0'), join(lonely, 'signalbox.mjs'), 'jobs'];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /^signalbox: Node 20\.9\.0 is too old.*Install Node 26.*\n$/);
});

test('the launcher names the library that its Node lacks', {
  skip: process.platform !== 'linux' && 'the library is of Linux',
}, () => {
  const root = join(place.directory, 'bare');
  const node = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin');
  for (const folder of [node, join(root, 'bin')]) mkdirSync(folder, { recursive: true });
  cpSync(launcher, join(root, 'bin', 'signalbox.mjs'));
  // As the dynamic linker does.
  const linker = '#!/bin/sh\necho "node: libatomic.so.1: cannot open" >&2\nexit 127\n';
  writeFileSync(join(node, 'node'), linker, { mode: 0o755 });
  const args = ['--require', pretendNode('20.9.0'), join(root, 'bin', 'signalbox.mjs'), 'jobs'];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 127);
  assert.match(stderr, /cannot open\nsignalbox: .*apt-get install libatomic1 .*\n$/);
});

test('the help of every command breaks no word on a terminal of 60 columns', async () => {
  const columns = 60;
  for (const entry of commandTable) {
    const program = buildProgram(new Map([[entry, (await entry.load()).command]]));
    const command = entry.words.reduce(
      (parent, word) => parent.commands.find((child) => child.name() === word) ?? parent,
      program,
    );
    command.configureOutput({ getOutHelpWidth: () => columns });
    let text = '';
    command.configureOutput({
      writeOut: (part) => {
        text += part;
      },
    });
    command.outputHelp();
    const options = text.split('\n').filter((line) => /^ {2}/.test(line));
    for (const line of options) {
      // A term that is longer by itself cannot be broken better.
      const isTerm = /^ {2}\S/.test(line) && !/ {2}\S.* {2}/.test(line);
      assert.ok(isTerm || line.length <= columns, `${entry.words.join(' ')}: ${line}`);
    }
  }
});
