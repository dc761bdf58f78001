import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import {
  launchdPlist,
  programIn,
  type Service,
  systemdUnit,
} from '../src/commands/agent/unit/unit-file.ts';
import { findServiceHost } from '../src/commands/agent/unit/unit-host.ts';
import { saveLogin } from '../src/hub/credentials.ts';
import { launcherFile, makePlace, type Place } from './harness.ts';

let place: Place;
/** Lines of `systemctl`, as a program of the test was called for them. */
let calls: string;
beforeEach(async () => {
  place = makePlace();
  calls = join(place.directory, 'calls');
  await saveLogin(place.env, {
    url: 'http://127.0.0.1:4400',
    workspaceSlug: 'acme',
    workspaceId: 'ws_1',
    token: 'sbx_d_secret',
    loggedInAt: '2026-11-02T09:00:00.000Z',
  });
});
afterEach(async () => await place.end());

const service: Service = {
  name: 'signalbox-agent',
  program: ['/opt/100% "me"/signalbox', 'agent', 'start', '--config', '/home/a$b/x&y.yaml'],
  environment: { PATH: '/usr/bin:/opt/a\\b', SIGNALBOX_URL: 'http://h/<x>?a=%20' },
  directory: '/home/ann',
  logFile: '/home/ann/Library/Logs/signalbox-agent.log',
};

test('the unit starts the agent, keeps it running, and stops it within a minute', () => {
  const unit = systemdUnit(service);
  const lines = unit.split('\n');
  for (const line of [
    'ExecStart="/opt/100%% \\"me\\"/signalbox" "agent" "start" "--config" "/home/a$$b/x&y.yaml"',
    'WorkingDirectory=/home/ann',
    'Environment="PATH=/usr/bin:/opt/a\\\\b"',
    'Environment="SIGNALBOX_URL=http://h/<x>?a=%%20"',
    'Restart=on-failure',
    'RestartPreventExitStatus=2 3 4',
    'KillMode=mixed',
    'KillSignal=SIGQUIT',
    'SuccessExitStatus=130',
    'TimeoutStopSec=60',
    'WantedBy=default.target',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assert.equal(programIn(unit), '/opt/100% "me"/signalbox');
});

test('the property list has this text', () => {
  const list = launchdPlist(service);
  assert.equal(programIn(list), '/opt/100% "me"/signalbox');
  assert.equal(
    list,
    `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by \`signalbox agent service install\`. Run it again to change this file. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>signalbox-agent</string>
  <key>ProgramArguments</key>
  <array>
    <string>/opt/100% "me"/signalbox</string>
    <string>agent</string>
    <string>start</string>
    <string>--config</string>
    <string>/home/a$b/x&amp;y.yaml</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>/usr/bin:/opt/a\\b</string>
    <key>SIGNALBOX_URL</key>
    <string>http://h/&lt;x&gt;?a=%20</string>
  </dict>
  <key>WorkingDirectory</key>
  <string>/home/ann</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>60</integer>
  <key>StandardOutPath</key>
  <string>/home/ann/Library/Logs/signalbox-agent.log</string>
  <key>StandardErrorPath</key>
  <string>/home/ann/Library/Logs/signalbox-agent.log</string>
</dict>
</plist>
`,
  );
});

test('launchd loads the list, again after a change, and the log is a file', () => {
  const host = findServiceHost({ HOME: '/Users/ann' }, 'darwin');
  const file = '/Users/ann/Library/LaunchAgents/agent.plist';
  const domain = `gui/${process.getuid?.()}`;
  assert.equal(host.fileOf('agent'), file);
  const load = ['launchctl', 'bootstrap', domain, file];
  assert.deepEqual(host.startLines('agent', false), [load]);
  assert.deepEqual(host.startLines('agent', true), [
    ['launchctl', 'bootout', `${domain}/agent`],
    load,
  ]);
  assert.equal(host.logLine('agent'), 'tail -f /Users/ann/Library/Logs/agent.log');
  assert.ok(host.isRunning('\tpid = 1\n\tstate = running\n'));
  assert.throws(() => findServiceHost({}, 'win32'), /systemd and launchd, and not win32/);
});

/** Puts a `systemctl` before the others: this machine may have no session of systemd. */
async function putSystemctl(script: string): Promise<NodeJS.ProcessEnv> {
  const directory = join(place.directory, 'systemd');
  await mkdir(directory, { recursive: true });
  const file = join(directory, 'systemctl');
  await writeFile(file, `#!/bin/sh\necho "$*" >> '${calls}'\n${script}\n`);
  await chmod(file, 0o755);
  return { PATH: `${directory}${delimiter}${place.env.PATH}` };
}

const unitFile = () => join(place.directory, '.config/systemd/user/signalbox-agent.service');

async function callsOf(): Promise<string[]> {
  return existsSync(calls) ? (await readFile(calls, 'utf8')).trim().split('\n') : [];
}

test('agent service install --dry-run shows the file and the commands, and changes nothing', async () => {
  const env = await putSystemctl('');
  const { exitCode, stdout, stderr } = await place.run(
    ['agent', 'service', 'install', '--dry-run'],
    { env },
  );
  assert.equal(exitCode, 0, stderr);
  assert.ok(stdout.startsWith(`${unitFile()}\n`));
  assert.match(stdout, /^\$ systemctl --user enable signalbox-agent\.service$/m);
  assert.ok(!existsSync(unitFile()));
  assert.deepEqual(await callsOf(), []);
});

test('agent service install writes a unit that systemd accepts, with no secret in it', async () => {
  const env = await putSystemctl('echo active');
  const config = join(place.directory, 'my agent.yaml');
  await writeFile(config, 'jobs: 2');
  const installed = await place.run(['agent', 'service', 'install', '--config', config], {
    env: { ...env, SIGNALBOX_TOKEN: 'sbx_s_hidden' },
  });
  assert.equal(installed.exitCode, 0, installed.stderr);
  assert.match(installed.stdout, /journalctl --user -u signalbox-agent -f/);
  assert.deepEqual(await callsOf(), [
    '--user daemon-reload',
    '--user enable signalbox-agent.service',
    '--user start signalbox-agent.service',
  ]);
  const unit = await readFile(unitFile(), 'utf8');
  assert.ok(!unit.includes('sbx_'), 'a token is in the unit');
  assert.ok(unit.includes(`"agent" "start" "--config" "${config}"`));
  assert.ok(unit.includes(`Environment="SIGNALBOX_CONFIG_DIR=${place.env.SIGNALBOX_CONFIG_DIR}"`));
  // The link on the PATH stays where it is when the package behind it is replaced.
  assert.equal(programIn(unit), join(place.directory, 'commands/signalbox'));
  assert.deepEqual(await readdir(join(unitFile(), '..')), ['signalbox-agent.service']);
  const verified = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', unitFile()], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: place.directory },
  });
  // Where systemd is missing, the test of the unit's text must do.
  if (verified.error === undefined) {
    assert.equal(verified.stderr, '');
    assert.equal(verified.status, 0);
  }
  const status = await place.run(['agent', 'service', 'status', '--json'], { env });
  assert.equal(status.exitCode, 0);
  assert.equal(JSON.parse(status.stdout).running, true);
});

test('an install that systemd refuses leaves the file as it was', async () => {
  const refusing = await putSystemctl('echo "no session bus" >&2; exit 1');
  const { exitCode, stderr } = await place.run(['agent', 'service', 'install'], { env: refusing });
  assert.equal(exitCode, 1);
  assert.match(stderr, /systemctl --user daemon-reload failed: no session bus/);
  assert.ok(!existsSync(unitFile()));
  const env = await putSystemctl('');
  await place.run(['agent', 'service', 'install'], { env });
  const before = await readFile(unitFile(), 'utf8');
  await putSystemctl('exit 1');
  const again = ['agent', 'service', 'install', '--config', join(place.directory, 'new.yaml')];
  await writeFile(join(place.directory, 'new.yaml'), '');
  assert.equal((await place.run(again, { env })).exitCode, 1);
  assert.equal(await readFile(unitFile(), 'utf8'), before);
});

test('agent service install again replaces the unit and restarts; a unit of others stays', async () => {
  const env = await putSystemctl('');
  await place.run(['agent', 'service', 'install'], { env });
  await place.run(['agent', 'service', 'install', '--json'], { env });
  assert.equal((await callsOf()).at(-1), '--user restart signalbox-agent.service');
  await writeFile(unitFile(), '[Service]\nExecStart=/bin/true\n');
  for (const word of ['install', 'remove']) {
    const { exitCode, stderr } = await place.run(['agent', 'service', word], { env });
    assert.equal(exitCode, 2);
    assert.match(stderr, /was not written by this command/);
  }
  assert.equal(await readFile(unitFile(), 'utf8'), '[Service]\nExecStart=/bin/true\n');
});

test('a mistake in the configuration file, or no login, installs nothing', async () => {
  const env = await putSystemctl('');
  const config = join(place.directory, 'agent.yaml');
  await writeFile(config, 'jbs: 2');
  const wrong = await place.run(['agent', 'service', 'install', '--config', config], { env });
  assert.match(wrong.stderr, /agent\.yaml:1: jbs is not a known key; did you mean jobs\?/);
  const fresh = { ...env, SIGNALBOX_CONFIG_DIR: join(place.directory, 'fresh') };
  const out = await place.run(['agent', 'service', 'install'], {
    env: { ...fresh, SIGNALBOX_TOKEN: 'x' },
  });
  assert.equal(out.exitCode, 3);
  assert.match(out.stderr, /Write the token to a file, and set SIGNALBOX_TOKEN_FILE/);
  assert.ok(!existsSync(unitFile()));
});

test('agent service remove ends the service and removes its file; then there is nothing to end', async () => {
  const env = await putSystemctl('');
  await place.run(['agent', 'service', 'install', '--no-start'], { env });
  assert.deepEqual(await callsOf(), []);
  const { exitCode, stderr } = await place.run(['agent', 'service', 'remove'], { env });
  assert.equal(exitCode, 0, stderr);
  assert.ok(!existsSync(unitFile()));
  assert.deepEqual(await callsOf(), [
    '--user disable --now signalbox-agent.service',
    '--user daemon-reload',
  ]);
  const again = await place.run(['agent', 'service', 'remove'], { env });
  assert.equal(again.exitCode, 2);
  assert.match(again.stderr, /is not installed/);
});

test('agent service status names a program that is missing, and exits with 1', async () => {
  const env = await putSystemctl('echo inactive; exit 3');
  const none = await place.run(['agent', 'service', 'status'], { env });
  assert.equal(none.exitCode, 1);
  assert.match(none.stdout, /is not installed/);
  await place.run(['agent', 'service', 'install', '--no-start'], { env });
  const unit = await readFile(unitFile(), 'utf8');
  const gone = join(place.directory, 'gone');
  await writeFile(unitFile(), unit.replace(join(place.directory, 'commands/signalbox'), gone));
  const { stdout, exitCode } = await place.run(['agent', 'service', 'status', '--json'], { env });
  assert.equal(exitCode, 1);
  assert.deepEqual(JSON.parse(stdout), {
    ok: false,
    service: 'signalbox-agent',
    file: unitFile(),
    installed: true,
    running: false,
    missingProgram: gone,
  });
});

test('without the command on the PATH, the unit names its launcher', async () => {
  const env = { ...(await putSystemctl('')), PATH: process.env.PATH };
  const { stdout } = await place.run(['agent', 'service', 'install', '--dry-run', '--json'], {
    env,
  });
  assert.equal(programIn(JSON.parse(stdout).content), launcherFile);
});
