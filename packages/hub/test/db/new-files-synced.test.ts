import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTraced, whyNoStrace } from '../support/system-calls.ts';
import { makeTempDir } from '../support/temp-dir.ts';

/** A call that makes a file or its name durable. */
type Step = 'synced content' | 'name' | 'synced name';

test('a key and its name are on disk before the hub uses them, as the database remembers it (L11)', {
  skip: whyNoStrace() ?? false,
}, async (t) => {
  const directory = realpathSync(makeTempDir(t));
  const data = join(directory, 'data');
  const trace = join(directory, 'calls');
  const module = JSON.stringify(new URL('../../src/db/data-directory.ts', import.meta.url).href);
  const script = `
    import { createKeyFile, prepareDataDirectory } from ${module};
    prepareDataDirectory(${JSON.stringify(data)});
    createKeyFile(${JSON.stringify(data)});
    console.log('created');`;
  const calls = ['-y', '-s', '4096', '-e', 'signal=none', '-o', trace].concat([
    '-e',
    'trace=fsync,fdatasync,link,linkat',
  ]);
  const args = [...process.execArgv, '--input-type=module', '--eval', script];
  const { child, firstLine } = await startTraced(t, calls, args, {});
  assert.equal(firstLine, 'created');
  if (child.exitCode === null) await once(child, 'exit');

  const lines = readFileSync(trace, 'utf8').split('\n');
  for (const name of ['directory.id', 'secret.key']) {
    const draft = `${join(data, name)}.`;
    const steps = lines.flatMap((line): Step[] => {
      if (!/= 0$/.test(line)) return [];
      if (/\blink(at)?\(/.test(line)) return line.includes(`"${join(data, name)}"`) ? ['name'] : [];
      if (line.includes(`<${draft}`)) return ['synced content'];
      return line.includes(`<${data}>`) ? ['synced name'] : [];
    });
    const named = steps.indexOf('name');
    assert.equal(steps[named - 1], 'synced content', `${name}: ${lines.join('\n')}`);
    assert.equal(steps[named + 1], 'synced name', `${name}: ${lines.join('\n')}`);
  }
});
