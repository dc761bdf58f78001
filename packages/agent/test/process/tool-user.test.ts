import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { checkJobServer, ToolUserError } from '../../src/index.ts';

const module = join(import.meta.dirname, '../../src/process/tool-user.ts');
const script = `import(${JSON.stringify(module)})
  .then(({ findToolUser }) => findToolUser('bin'))
  .catch(({ name, message }) => console.log(name + ': ' + message));`;

test('an agent without the rights to run tools as another user says which it lacks', () => {
  // Root gives its rights up; another user has none.
  const daemon = Number(spawnSync('id', ['-u', 'daemon'], { encoding: 'utf8' }).stdout);
  const identity = process.geteuid?.() === 0 ? { uid: daemon, gid: daemon } : {};
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'utf8',
    cwd: '/',
    env: { PATH: process.env.PATH },
    ...identity,
  });
  assert.match(
    stdout,
    /^ToolUserError: To run tools as bin, start the agent as root, or give it .*CAP_SETUID\./,
    stderr,
  );
});

const skip = process.geteuid?.() === 0 ? false : 'only root can run a program as another user';

test('an installation that the user of tools cannot read is found at the start', {
  skip,
}, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-server-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'server.sh');
  writeFileSync(file, 'exit 0\n');
  const server = { file: '/bin/sh', args: [file] };
  chmodSync(directory, 0o700);
  await assert.rejects(checkJobServer(server, 'daemon'), (error) => {
    assert.ok(error instanceof ToolUserError);
    assert.match(error.message, /^daemon cannot run .*server\.sh.* every user can read\.$/s);
    return true;
  });
  chmodSync(directory, 0o711);
  await checkJobServer(server, 'daemon');
});
