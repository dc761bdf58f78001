import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { saveLogin } from '../src/hub/credentials.ts';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, makeClone, makePlace, type Place, startHub } from './harness.ts';

const request = JSON.stringify({
  hook_event_name: 'PermissionRequest',
  session_id: 's1',
  cwd: '/',
  tool_name: 'Bash',
  tool_input: { command: 'npm publish' },
});

suite('hook install', () => {
  let place: Place;
  let file: string;
  before(() => {
    place = makePlace();
    Object.assign(place.env, { HOME: place.directory, CLAUDE_CONFIG_DIR: '', CODEX_HOME: '' });
    file = join(place.directory, '.claude/settings.json');
  });
  after(async () => await place.end());

  const run = async (...args: string[]) => {
    const end = await place.run(['hook', ...args]);
    assert.equal(end.exitCode, exitCodes.ok, end.stderr);
    return end.stdout;
  };
  const read = () => readFile(file, 'utf8');

  const guard = { type: 'command', command: 'guard.sh' };
  for (const [name, text] of [
    ['no file', null],
    ['an empty object', '{}\n'],
    ['a file written by hand', '{\n\t"model": "opus",\n\t"allow": ["a",   "b"]}'],
    ['line ends of Windows', '{\r\n  "model": "opus"\r\n}\r\n'],
    ['other events', JSON.stringify({ hooks: { Stop: [{ hooks: [guard] }] }, model: 'opus' })],
    [
      'other hooks',
      JSON.stringify({ hooks: { PermissionRequest: [{ hooks: [guard] }] } }, null, 4),
    ],
  ] as const) {
    test(`${name}: is kept, and is as before when the hook is removed`, async () => {
      await mkdir(dirname(file), { recursive: true });
      if (text !== null) await writeFile(file, text);
      const shown = await run('install', 'claude', '--dry-run');
      assert.match(shown, /\+ .*hook run claude --wait 1h/);
      assert.equal(existsSync(file) ? await read() : null, text);
      await run('install', 'claude');
      const installed = await read();
      await run('install', 'claude');
      assert.equal(await read(), installed, 'a second time changes nothing');
      if (text?.includes('opus') && !text.includes('hooks')) {
        assert.ok(installed.startsWith(text.slice(0, text.lastIndexOf('}')).trimEnd()));
      }
      const { hooks } = JSON.parse(installed);
      const own = hooks.PermissionRequest.at(-1).hooks[0];
      assert.match(own.command, /^exec \S.*signalbox\S* hook run claude --wait 1h$/);
      assert.equal(own.timeout, 3_610);
      await run('install', 'claude', '--wait', '2m');
      assert.match(await read(), /--wait 2m",\s*"timeout": 130/);
      await run('remove', 'claude');
      assert.equal(existsSync(file) ? await read() : null, text);
      assert.equal(existsSync(`${file}.before-signalbox`), false);
      await run('remove', 'claude');
    });
  }

  test('what was changed meanwhile stays, also behind a link', async () => {
    const real = join(place.directory, 'dotfiles.json');
    await writeFile(real, '{\n  "model": "opus"\n}\n');
    await rm(file, { force: true });
    await symlink(real, file);
    await run('install', 'claude');
    await writeFile(real, (await read()).replace('opus', 'sonnet'));
    await run('remove', 'claude');
    assert.equal(await readFile(real, 'utf8'), '{\n  "model": "sonnet"\n}\n');
    assert.ok((await lstat(file)).isSymbolicLink());
  });

  test('a file that is not JSON stays as it is', async () => {
    await writeFile(file, '{ // mine\n}');
    const { exitCode, stderr } = await place.run(['hook', 'install', 'claude']);
    assert.equal(exitCode, exitCodes.failed);
    assert.match(stderr, /settings\.json is not JSON/);
    assert.equal(await read(), '{ // mine\n}');
    await writeFile(file, '{}');
  });

  test('a clone has files of its own, and status and doctor name what is installed', async () => {
    const cwd = makeClone(place);
    const own = join(cwd, '.claude/settings.local.json');
    await place.run(['hook', 'install', 'claude', '--project'], { cwd });
    await run('install', 'codex');
    const { stdout } = await place.run(['hook', 'status', '--json'], { cwd });
    const { hooks } = JSON.parse(stdout);
    assert.deepEqual(
      hooks.map((hook: { tool: string; file: string }) => [hook.tool, hook.file]),
      [
        ['claude', own],
        ['codex', join(place.directory, '.codex/hooks.json')],
      ],
    );
    const doctor = await place.run(['doctor', '--json'], { cwd: place.directory });
    const { findings } = JSON.parse(doctor.stdout);
    const found = findings.find(({ name }: { name: string }) => name === 'Hooks');
    assert.equal(found.message, 'installed for codex');
  });
});

suite('hook run without a hub', () => {
  let place: Place;
  let silent: Server;
  let silentUrl: string;
  const sockets = new Set<Socket>();
  before(async () => {
    place = makePlace();
    silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    silentUrl = `http://127.0.0.1:${(silent.address() as { port: number }).port}`;
  });
  after(async () => {
    await place.end();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  const logInAt = (url: string) =>
    saveLogin(place.env, {
      url,
      workspaceSlug: 'acme',
      workspaceId: 'ws_1',
      token: 'sbx_d_secret',
      loggedInAt: '2026-11-02T09:00:00.000Z',
    });

  async function runHook(tool = 'codex') {
    const startMs = performance.now();
    const end = await place.run(['hook', 'run', tool], { input: request });
    return { ...end, tookMs: performance.now() - startMs };
  }

  test('it prints no answer, says why in a line, and ends within two seconds', async () => {
    // Starting the program takes longer on a busy machine.
    const unready = await runHook();
    assert.match(unready.stderr, /^signalbox: This machine is not logged in.* Answer here\.\n$/);
    await logInAt('http://127.0.0.1:1');
    const away = await runHook();
    assert.match(away.stderr, /^signalbox: .*127\.0\.0\.1:1.* Answer here\.\n$/);
    await logInAt(silentUrl);
    const slow = await runHook();
    assert.equal(slow.stderr, 'signalbox: The hub did not answer in time. Answer here.\n');
    assert.ok(slow.tookMs - unready.tookMs < 1_500, `${slow.tookMs} − ${unready.tookMs} ms`);
    for (const { exitCode, stdout } of [unready, away, slow]) {
      assert.deepEqual([exitCode, stdout], [exitCodes.failed, '']);
    }
  });

  test('jobs ask in their own way', async () => {
    const env = { SIGNALBOX_JOB_TOKEN: 'sbx_j_1' };
    const end = await place.run(['hook', 'run', 'claude'], { input: request, env });
    assert.deepEqual([end.exitCode, end.stdout, end.stderr], [exitCodes.ok, '', '']);
  });
});

suite('hook run', () => {
  let place: HubPlace;
  before(async () => {
    place = await startHub();
    const login = place.start(['login', '--no-browser', '-w', place.workspaceSlug]);
    const [userCode] = await login.says(/\b[B-Z]{4}-[B-Z]{4}\b/);
    const [deviceId] = await login.says(/dev_[0-9a-z]+/);
    await place.console.deviceApprovals.open({ deviceId });
    await place.console.deviceApprovals.answer({ deviceId, decision: 'approve', userCode });
    await login.ended;
  });
  after(async () => await place.end());

  async function openQuestion() {
    const { workspaceId } = place;
    for (;;) {
      const { uncertainties } = await place.console.uncertainties.list({
        workspaceId,
        status: 'open',
      });
      if (uncertainties[0] !== undefined) return uncertainties[0];
    }
  }

  async function answerWith(mode: 'answered' | 'dismissed', value: string) {
    const running = place.start(['hook', 'run', 'claude'], { input: request });
    const { uncertaintyId } = await openQuestion();
    const { workspaceId } = place;
    const body = { workspaceId, uncertaintyId, mode, value, confidence: 1 };
    await place.console.uncertainties.addResolution(body);
    return await running.ended;
  }
  const decisionIn = (stdout: string) => JSON.parse(stdout).hookSpecificOutput.decision;

  test('it prints the answer of its person, and only a choice allows', async () => {
    const allowed = await answerWith('answered', 'allow');
    assert.deepEqual(decisionIn(allowed.stdout), { behavior: 'allow' });
    assert.deepEqual([allowed.exitCode, allowed.stderr], [exitCodes.ok, '']);
    const refused = await answerWith('answered', 'refuse');
    assert.deepEqual(decisionIn(refused.stdout), {
      behavior: 'deny',
      message: 'Ada refused this.',
    });
    const words = await answerWith('answered', 'Allow it\nafter lunch');
    assert.deepEqual(decisionIn(words.stdout), {
      behavior: 'deny',
      message: 'Ada refused this: Allow it\nafter lunch',
    });
  });

  test('a question that its person dismisses is left to the terminal', async () => {
    const { exitCode, stdout, stderr } = await answerWith('dismissed', '');
    assert.deepEqual([exitCode, stdout], [exitCodes.failed, '']);
    assert.equal(stderr, 'signalbox: Ada leaves it to this terminal. Answer here.\n');
  });

  test('a hook that is told to end takes its question back', async () => {
    const running = place.start(['hook', 'run', 'codex'], { input: request });
    const { uncertaintyId } = await openQuestion();
    running.child.kill('SIGTERM');
    assert.equal((await running.ended).stdout, '');
    const { workspaceId } = place;
    const { uncertainty } = await place.console.uncertainties.get({ workspaceId, uncertaintyId });
    assert.deepEqual(
      [uncertainty.resolution?.mode, uncertainty.resolution?.createdBy],
      ['dismissed', null],
    );
  });
});
