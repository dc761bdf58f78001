/** Tools that try to break out, under a real agent. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { type AgentOptions, createCodexExecutor, IsolationError } from '../../src/index.ts';
import { findBubblewrap, pathWith } from '../support/bubblewrap.ts';
import { git, makeRepository, repoId, resultOf, setup } from '../support/harness.ts';

const bubblewrap = findBubblewrap();

const ofWrap = ['agent-files', 'home', 'writes', 'processes', 'end'];
const isRoot = process.geteuid?.() === 0 ? false : 'only root can start a tool as another user';

/** Tries to reach what it must not, and says so. Run by each kind of process of a job. */
const attack = `#!/bin/sh
try() { if "$@" > /dev/null 2>&1; then echo "LEAK by $NAME: $*"; fi; }
holds() { if head -c 1 "$1" 2> /dev/null | grep -q .; then echo "LEAK by $NAME: $1"; fi; }
NAME=$1
for file in .ssh/id .aws/credentials .config/signalbox/credentials.json src/other/.git/HEAD; do
  holds "$PLACE/home/$file"
done
for file in state/agent.lock state/machine-id clone/.git/HEAD private/token; do
  holds "$PLACE/$file"
done
for at in home home/src state state/outbox clone clone/.git/hooks private .; do
  echo "$NAME" 2> /dev/null > "$PLACE/$at/planted" || true
done
echo "$NAME" 2> /dev/null > /tmp/planted-by-a-tool || echo "LEAK by $NAME: no temporary directory"
try kill -0 "$AGENT_PID"
tr '\\0' '\\n' < "/proc/$AGENT_PID/environ" 2> /dev/null | grep -q PLACE= && echo "LEAK by $NAME: agent"
try mount -o remount,rw,bind / /
try umount "$PLACE/home"
try umount /tmp
try mknod /tmp/device b 8 0
echo "$NAME has run"
exit 0
`;

async function makePlace(t: TestContext) {
  const parts = await setup(t);
  const at = (...names: string[]) => join(parts.directory, ...names);
  for (const name of ['.ssh', '.aws', '.config/signalbox']) {
    mkdirSync(at('home', name), { recursive: true });
  }
  mkdirSync(at('private'));
  mkdirSync(at('hooks'));
  mkdirSync(at('bin'));
  await makeRepository(at('home/src/other'));
  for (const file of ['home/.ssh/id', 'home/.aws/credentials', 'private/token']) {
    writeFileSync(at(file), 'a secret', { mode: 0o600 });
  }
  writeFileSync(at('home/.config/signalbox/credentials.json'), 'a secret', { mode: 0o600 });
  writeFileSync(at('home/.gitconfig'), '[user]\n name = Tool\n email = tool@example.test\n');
  writeFileSync(at('bin/attack'), attack);
  chmodSync(at('bin/attack'), 0o755);
  for (const name of ['pre-command', 'post-command']) {
    writeFileSync(at('hooks', name), `#!/bin/sh\nattack ${name}\nexport NAME\n`);
    chmodSync(at('hooks', name), 0o755);
  }
  const envWith = (bwrap: string | null) => ({
    ...process.env,
    HOME: at('home'),
    PATH: `${at('bin')}:${pathWith(bwrap)}`,
    PLACE: parts.directory,
    AGENT_PID: String(process.pid),
  });
  const options = (more: Partial<AgentOptions> = {}): Partial<AgentOptions> => ({
    env: envWith(bubblewrap.directory),
    isolation: 'wrap',
    hooksDir: at('hooks'),
    readable: [at('bin'), at('hooks')],
    privatePaths: [at('private'), at('home/.config/signalbox')],
    repositories: [
      {
        repoId,
        path: parts.clone,
        setup: { run: [{ command: 'attack set-up' }] },
        landing: { checks: [{ command: 'attack check' }] },
      },
    ],
    ...more,
  });
  async function run(command: string, more: Partial<AgentOptions> = {}) {
    const held = parts.hub.enqueue({ repoId, prompt: 'Break out' });
    const agent = await parts.start(command, options(more));
    await parts.hub.until('the result', () => held.accepted !== null);
    await agent.drain();
    const output = [...held.log.values()].map(({ message }) => message).join('');
    return { result: resultOf(held), output, agent };
  }
  return { ...parts, at, options, envWith, run };
}

/** Lets another user enter a directory; the one of all tests is the owner's alone. */
function admit(directory: string): void {
  const parent = dirname(directory);
  chmodSync(parent, statSync(parent).mode | 0o011);
  chmodSync(directory, 0o711);
}

/** The processes with a text in their command lines. */
function processesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return line.includes(text) ? [line] : [];
      } catch {
        // It has ended.
        return [];
      }
    });
}

type Parts = Awaited<ReturnType<typeof makePlace>>;

/** Every kind of process of the job has tried, and none has reached anything. */
function assertWrapped(parts: Parts, output: string): void {
  assertNoLeak(parts, output, ['set-up', 'pre-command', 'tool', 'post-command', 'check']);
}

function assertNoLeak(parts: Parts, output: string, tried: readonly string[]): void {
  for (const name of tried) {
    assert.match(output, new RegExp(`^${name} has run$`, 'm'));
  }
  assert.doesNotMatch(output, /LEAK/);
  for (const place of places) assert.ok(!readdirSync(parts.at(place)).includes('planted'), place);
}

const places = ['.', 'home', 'home/src', 'state', 'state/outbox', 'clone', 'private'];

/** A program that tries sockets, writes to `tried.txt` what it got, and listens until its end. */
const listener = (socket: string) => `
const { appendFileSync } = require('node:fs');
const net = require('node:net');
const say = (text) => appendFileSync('tried.txt', text + '\\n');
const listen = (at) => new Promise((end) => net.createServer().listen(at)
  .on('listening', () => end(at)).on('error', ({ code }) => end(code)));
const connect = (at) => new Promise((end) => net.connect(at)
  .on('connect', () => end('connected')).on('error', ({ code }) => end(code)));
(async () => {
  say('socket of the machine: ' + (await connect('${socket}')));
  say('socket in /run: ' + (await listen('/run/signalbox-test.sock')));
  say('socket in /tmp: ' + (await listen('${socket}')));
  say('port: ' + (await listen(0)));
})();
`;

/** Commands of bubblewrap without one of their parts, and the words that the agent then says. */
const holes: Readonly<Record<string, { edit: (command: string[]) => string[]; found: RegExp }>> = {
  'does nothing': {
    edit: (command) => command.slice(command.indexOf('--') + 1),
    found: /it reads \S+\/(agent\.lock|machine-id)/,
  },
  'shows the home directory': {
    edit: (command) => {
      const isPrivate = (at: number) => /\/private\/(home|tmp)$/.test(command[at] ?? '');
      // Its home directory may be below the /dev of this machine.
      const kept = command.filter((_, at) => ![at - 1, at, at + 1].some(isPrivate));
      return kept.filter((each) => each !== '--dev' && each !== '/dev');
    },
    found: /it reads \S+\/home\/\.ssh\/id/,
  },
  'lets everything be written': {
    edit: (command) => command.map((each) => (each === '--ro-bind' ? '--bind' : each)),
    found: /it writes to /,
  },
  'shows the processes': {
    edit: (command) => command.filter((each) => each !== '--unshare-pid'),
    found: /it (reads the environment of|ends) other processes/,
  },
};

/** A program that changes the command of bubblewrap before it runs it. */
function bubblewrapWith(edit: (command: string[]) => string[]): string {
  const real = JSON.stringify(join(bubblewrap.directory, 'bwrap'));
  return `#!${process.execPath}
const edit = ${edit};
const [file, ...args] = edit([${real}, ...process.argv.slice(2)]);
const { status } = require('node:child_process').spawnSync(file, args, { stdio: 'inherit' });
process.exit(status ?? 1);
`;
}

const work = `attack tool; echo one > one.txt; git add one.txt; git commit -qm one
(setsid env -i /bin/sh -c 'cd /; trap "" TERM; echo $$ > "$1"; sleep 600; exit' left "$PWD/left" &)
while ! [ -s left ]; do :; done; rm left
echo '{"outcome":"done","message":"wrapped"}' > "$SIGNALBOX_RESULT_FILE"`;

if (bubblewrap.lack !== null) {
  test(`a wrap that cannot be had (${bubblewrap.lack}) is refused by name`, async (t) => {
    const parts = await makePlace(t);
    await assert.rejects(parts.start('true', parts.options()), IsolationError);
    assert.deepEqual(parts.hub.calls, []);
  });
} else {
  test('a wrapped tool works, and breaks out by none of its processes', async (t) => {
    const parts = await makePlace(t);
    const { result, output, agent } = await parts.run(work);
    assertWrapped(parts, output);
    assert.equal(result.outcome, 'done', `${result.message}\n${output}`);
    assert.equal(result.message, 'wrapped');
    assert.deepEqual(agent.proof, { rungs: ['wrap'], proved: ofWrap, broken: [] });
    const { isolation } = result.evidence.executor;
    const { username: user } = userInfo();
    assert.deepEqual(isolation, { rungs: ['wrap'], proved: ofWrap, user });
    assert.deepEqual(processesWith(parts.at('')), []);
    assert.equal(result.evidence.verdict, 'verified');
    assert.equal(git(parts.clone, 'show', `${result.evidence.commitSha}:one.txt`), 'one');
  });

  test('a wrapped tool that runs as another user has both rungs', { skip: isRoot }, async (t) => {
    const parts = await makePlace(t);
    admit(parts.directory);
    const { result, output } = await parts.run(work, { runAs: 'daemon' });
    assertWrapped(parts, output);
    assert.equal(result.message, 'wrapped', output);
    assert.deepEqual(result.evidence.executor.isolation, {
      rungs: ['user', 'wrap'],
      user: 'daemon',
      proved: ['agent-files', 'processes', 'home', 'writes', 'end'],
    });
  });

  test('a sandbox of Codex that does not work in the wrap is turned off, and only there', async (t) => {
    const parts = await makePlace(t);
    const script = `#!/bin/sh
if [ "$1" = --version ]; then echo "codex 9.9.9"; exit 0; fi
if [ "$1" = sandbox ]; then
  if grep -q bwrap /proc/1/cmdline; then echo "no namespace in a namespace" >&2; exit 1; fi
  while [ "$1" != -- ]; do shift; done; shift; exec "$@"
fi
cat > /dev/null; echo "$4" > mode.txt
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
`;
    writeFileSync(parts.at('bin/codex'), script, { mode: 0o755 });
    const executor = createCodexExecutor();
    const { result, agent } = await parts.run('', { executor });
    const why = 'no namespace in a namespace';
    assert.deepEqual(agent.proof.broken, [{ rung: 'tool', why, isDead: true }]);
    const { isolation, mode } = result.evidence.executor as { isolation: object; mode: string };
    assert.equal((isolation as { rungs: string[] }).rungs.join(), 'wrap');
    assert.equal(mode, 'danger-full-access');
    const shown = git(parts.clone, 'show', `${result.evidence.commitSha}:mode.txt`);
    assert.equal(shown, 'danger-full-access');
  });

  test('a wrapped tool reaches no socket of the machine, and its own end with the job', async (t) => {
    const parts = await makePlace(t);
    // As a container engine or an agent of keys listens there.
    const socket = join('/tmp', `signalbox-test-${process.pid}.sock`);
    const calls: string[] = [];
    const server = createServer((one) => {
      calls.push('called');
      one.end();
    }).listen(socket);
    await once(server, 'listening');
    t.after(() => server.close());
    writeFileSync(parts.at('bin/listen.cjs'), listener(socket));
    const listen = `setsid ${process.execPath} ${parts.at('bin/listen.cjs')} "$PLACE"`;
    const { result, output } = await parts.run(
      `${listen} & until grep -q port tried.txt 2> /dev/null; do :; done; cat tried.txt`,
    );
    assert.equal(result.outcome, 'done', output);
    assert.match(output, /socket of the machine: ENOENT/);
    assert.match(output, /socket in \/run: \/run\/signalbox-test\.sock$/m);
    assert.deepEqual(calls, []);
    assert.ok(!readdirSync('/run').includes('signalbox-test.sock'));
    assert.deepEqual(processesWith(parts.at('')), []);
  });

  test('links of a wrapped tool to what it cannot see lead the agent nowhere', async (t) => {
    const parts = await makePlace(t);
    const secret = parts.at('private/token');
    const said = '{"outcome":"done","message":"a secret"}';
    writeFileSync(secret, said);
    const plant = [
      'ln -s "$PLACE/private" ~/private; ln -s "$PLACE/private" /tmp/private',
      'ln -s "$PLACE/private" folder; ln -s "$PLACE/private/token" token',
      'ln -s "$PLACE/private/token" "$SIGNALBOX_RESULT_FILE"',
    ];
    const { result, output } = await parts.run(plant.join('; '));
    assert.equal(result.outcomeReason?.code, 'result_file_invalid', output);
    assert.ok(!JSON.stringify([result, output]).includes('a secret'), output);
    assert.equal(readFileSync(secret, 'utf8'), said);
    assert.deepEqual(readdirSync(parts.at('private')), ['token']);
    assert.equal(git(parts.clone, 'status', '--porcelain'), '');
    assert.deepEqual(readdirSync(parts.at('state/jobs')), [], 'the places of the job are deleted');
  });

  test('a wrapped tool that fills the disk ends with its job, and not the agent', {
    skip: isRoot,
  }, async (t) => {
    const parts = await makePlace(t);
    const stateDir = mkdtempSync(join(tmpdir(), 'signalbox-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', stateDir]);
    t.after(() => {
      execFileSync('umount', [stateDir]);
      rmdirSync(stateDir);
    });
    // The prompt says where.
    const command = 'at=$(cat); echo work > work.txt; cat /dev/zero > "$(eval echo $at)/filled"';
    const repositories = [{ repoId, path: parts.clone }];
    const plain = { hooksDir: undefined, repositories };
    const agent = await parts.start(command, parts.options({ stateDir, ...plain }));
    const run = async (prompt: string) => {
      const held = parts.hub.enqueue({ repoId, prompt });
      await parts.hub.until('the result', () => held.accepted !== null, 60_000);
      return resultOf(held);
    };
    for (const place of ['/tmp', '~']) {
      const { outcomeReason, evidence } = await run(place);
      assert.equal(outcomeReason?.code, 'exit_1', JSON.stringify(outcomeReason));
      assert.match(String(outcomeReason?.summary), /No space left on device/);
      assert.deepEqual(
        evidence.changedFiles,
        ['work.txt'],
        'its files are deleted, its work is not',
      );
    }
    const inWorktree = await run('.');
    assert.equal(inWorktree.outcomeReason?.code, 'evidence_failed');
    assert.match(String(inWorktree.outcomeReason?.summary), /no space left .* kept in /i);
    await agent.drain();
  });

  test('a wrapped tool that is stopped has time to end, and what ignores that is killed', async (t) => {
    const parts = await makePlace(t);
    const held = parts.hub.enqueue({ repoId });
    const stubborn = `(trap "" TERM; exec /bin/sh -c 'sleep 600; exit' "$PLACE") &`;
    const command = `${stubborn} trap 'echo has ended; exit 0' TERM; echo is ready; wait; wait`;
    const agent = await parts.start(command, parts.options());
    const output = () => parts.hub.output(held, 'stdout');
    await parts.hub.until('the tool', () => output().includes('is ready'));
    await agent.stop();
    assert.match(output(), /has ended/);
    assert.deepEqual(processesWith(parts.at('')), []);
  });

  test('a wrapped tool whose agent was killed is ended by the next one, which does the job', async (t) => {
    const parts = await makePlace(t);
    const { hub, stateDir, at } = parts;
    const held = hub.enqueue({ repoId });
    const options = {
      baseUrl: hub.baseUrl,
      token: hub.token,
      workspaceId: hub.workspaceId,
      stateDir,
      ...parts.options(),
      command: `trap "" TERM; echo is ready; /bin/sh -c 'sleep 600; exit' "$PLACE"`,
    };
    const file = join(import.meta.dirname, '../support/agent-process.ts');
    const agent = spawn(process.execPath, [file, JSON.stringify(options)], { stdio: 'inherit' });
    t.after(() => agent.kill('SIGKILL'));
    await hub.until('the tool', () => hub.output(held, 'stdout').includes('is ready'));
    agent.kill('SIGKILL');
    await once(agent, 'exit');
    assert.notDeepEqual(processesWith(at('')), [], 'the tool is left');
    await parts.start('true', parts.options());
    assert.deepEqual(processesWith(at('')), []);
  });

  test('a machine that forbids namespaces is refused with the words of bubblewrap', async (t) => {
    const parts = await makePlace(t);
    mkdirSync(parts.at('holes'));
    const real = join(bubblewrap.directory, 'bwrap');
    const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set -all';
    const script = `#!/bin/sh\nexec unshare -Ur /bin/sh -c '${forbid} "$0" "$@"' ${real} "$@"\n`;
    writeFileSync(parts.at('holes/bwrap'), script, { mode: 0o755 });
    const env = parts.envWith(parts.at('holes'));
    await assert.rejects(parts.start('true', parts.options({ env })), (error) => {
      assert.ok(error instanceof IsolationError, String(error));
      assert.match(error.message, /^bubblewrap does not work here: bwrap: .*(permit|namespace)/i);
      return true;
    });
    assert.deepEqual(parts.hub.calls, []);
  });

  for (const [name, { edit, found }] of Object.entries(holes)) {
    test(`a bubblewrap that ${name} is found out, and no job is claimed`, async (t) => {
      const parts = await makePlace(t);
      mkdirSync(parts.at('holes'));
      writeFileSync(parts.at('holes/bwrap'), bubblewrapWith(edit), { mode: 0o755 });
      const env = parts.envWith(parts.at('holes'));
      await assert.rejects(parts.start('true', parts.options({ env })), (error) => {
        assert.ok(error instanceof IsolationError, String(error));
        assert.match(error.message, /^isolation: wrap does not hold\. The agent has tried/);
        assert.match(error.message, found);
        return true;
      });
      assert.deepEqual(parts.hub.calls, []);
    });
  }
}

test('a tool of another user reaches nothing of the agent, and nothing of it is left', {
  skip: isRoot,
}, async (t) => {
  const parts = await makePlace(t);
  // As a person keeps them who lets another user in.
  admit(parts.directory);
  for (const path of [parts.clone, parts.at('home'), parts.at('private')]) chmodSync(path, 0o700);
  const socket = join(tmpdir(), `signalbox-user-${process.pid}.sock`);
  const clean = () => {
    for (const path of ['/tmp/planted-by-a-tool', socket]) rmSync(path, { force: true });
  };
  clean();
  t.after(clean);
  writeFileSync(parts.at('bin/listen.cjs'), listener(socket));
  const command = [
    'attack tool',
    'echo run > /run/planted && echo "LEAK by tool: /run"',
    `setsid ${process.execPath} ${parts.at('bin/listen.cjs')} "$PLACE" &`,
    'until grep -q port tried.txt 2> /dev/null; do :; done; cat tried.txt',
    'ln -s "$PLACE/private" folder; ln -s "$PLACE/private/token" token',
    'ln -s "$PLACE/private/token" "$SIGNALBOX_RESULT_FILE"',
  ];
  const more = { runAs: 'daemon', isolation: 'user', env: parts.envWith(null) } as const;
  const { result, output } = await parts.run(command.join('\n'), more);
  assert.match(output, /^port: 0$/m, 'it has listened');
  assertNoLeak(parts, output, ['set-up', 'pre-command', 'tool', 'post-command']);
  assert.equal(result.outcomeReason?.code, 'result_file_invalid', output);
  assert.ok(!JSON.stringify([result, output]).includes('a secret'), output);
  assert.deepEqual(result.evidence.executor.isolation, {
    rungs: ['user'],
    proved: ['agent-files', 'processes'],
    user: 'daemon',
  });
  assert.deepEqual(processesWith(parts.at('')), []);
});

test('without bubblewrap, a wrap that is asked for is refused before a job is claimed', async (t) => {
  const parts = await makePlace(t);
  const options = parts.options({ env: parts.envWith(null) });
  await assert.rejects(parts.start('true', options), (error) => {
    assert.ok(error instanceof IsolationError);
    assert.match(error.message, /bwrap is not on the PATH/);
    return true;
  });
  assert.deepEqual(parts.hub.calls, []);
});

test('without isolation the same tool breaks out, and the evidence names no rung', async (t) => {
  const parts = await makePlace(t);
  const { result, output, agent } = await parts.run('attack tool', { isolation: undefined });
  for (const file of ['home/.ssh/id', 'home/src/other/.git/HEAD', 'private/token']) {
    assert.ok(output.includes(`LEAK by tool: ${parts.at(file)}`), output);
  }
  for (const place of places) assert.ok(readdirSync(parts.at(place)).includes('planted'), place);
  assert.deepEqual(agent.proof, { rungs: [], proved: [], broken: [] });
  const { isolation } = result.evidence.executor as { isolation: Record<string, unknown> };
  assert.deepEqual(isolation, { rungs: [], proved: [], user: userInfo().username });
});
