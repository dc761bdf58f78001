import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, startHub } from './harness.ts';

let place: HubPlace;
before(async () => {
  place = await startHub();
});
after(async () => await place.end());

function run(...args: string[]) {
  return place.run(['admin', ...args, '--data-dir', join(place.directory, 'data')]);
}

test('an operator maps a chat team without a code, to one workspace only', async () => {
  const team = ['chat-team', 'add', '--team', 'T024BE7LD'];
  const added = await run(...team, '-w', 'acme', '--name', 'Acme', '--json');
  assert.equal(added.exitCode, exitCodes.ok, added.stderr);
  assert.partialDeepStrictEqual(JSON.parse(added.stdout), {
    ok: true,
    workspaceSlug: 'acme',
    teamId: 'T024BE7LD',
    name: 'Acme',
  });
  assert.equal((await run('workspace', 'create', '--slug', 'beta')).exitCode, exitCodes.ok);
  const refused = await run(...team, '-w', 'beta');
  assert.equal(refused.exitCode, exitCodes.refused);
  assert.match(refused.stderr, /mapped to another workspace/);
  const unknown = await run('chat-team', 'add', '--team', 'not a team', '-w', 'acme');
  assert.equal(unknown.exitCode, exitCodes.refused);
  assert.match(unknown.stderr, /upper-case letters and digits/);
});
