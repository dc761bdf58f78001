import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';

const module = join(import.meta.dirname, '../../src/process/tool-user.ts');
const script = `import(${JSON.stringify(module)})
  .then(({ findToolUser }) => findToolUser('bin'))
  .catch(({ name, message }) => console.log(name + ': ' + message));`;

test('an agent without the rights to run tools as another user says which it lacks', () => {
  // Root gives its rights up; another user has none.
  const daemon = Number(spawnSync('id', ['-u', 'daemon'], { encoding: 'utf8' }).stdout);
  const identity = process.geteuid?.() === 0 ? { uid: daemon, gid: daemon } : {};
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    ...{ encoding: 'utf8', cwd: '/', env: { PATH: process.env.PATH } },
    ...identity,
  });
  assert.match(
    stdout,
    /^ToolUserError: To run tools as bin, start the agent as root, or give it .*CAP_SETUID\./,
    stderr,
  );
});
