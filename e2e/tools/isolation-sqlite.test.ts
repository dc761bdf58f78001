import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { configFlag } from '../cli-process.ts';
import { git } from '../git-clone.ts';
import { cacheDirectory, toolMissing } from './install-tool.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { say, shell, write } from './turns.ts';

/*
 * The real tools in a wrap: they keep their login, their sessions and the server of the job's own
 * tools, and reach nothing else of the person's.
 */

const hasBubblewrap = (directory: string) =>
  directory !== '' && existsSync(join(directory, 'bwrap'));
const pathDirectories = (process.env.PATH ?? '').split(delimiter);
/** Where `bwrap` is for tests: Codex would use one of the PATH for its own sandbox. */
const directory = [process.env.TEST_BUBBLEWRAP ?? '', ...pathDirectories].find(hasBubblewrap);
const works = directory !== undefined && startsIn(join(directory, 'bwrap'));

function startsIn(bwrap: string): boolean {
  const args = ['--ro-bind', '/', '/', '--proc', '/proc', '--unshare-pid', 'true'];
  return spawnSync(bwrap, args).status === 0;
}

describe('an agent that must wrap its tools, where it cannot', () => {
  let bench: ToolBench;
  before(async () => {
    bench = await startToolBench([]);
  });
  after(async () => await bench?.close());

  it('does not start, and says what is missing', async () => {
    const withoutIt = pathDirectories.filter((each) => !hasBubblewrap(each)).join(delimiter);
    const machine = bench.machineWith({ PATH: withoutIt });
    const settings = configFlag(bench.folder, { isolation: 'wrap', tool: { name: 'true' } });
    const { code, stderr } = await machine.run(['agent', 'start', '--once', ...settings]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /isolation: wrap needs bubblewrap, and bwrap is not on the PATH/);
    assert.match(stderr, /ISOLATION_REFUSED/);
  });
});

// Where it does not work, tests of the agent show the refusal, with the reason in their names.
const wrapped = works ? (['claude', 'codex'] as const) : [];
for (const tool of wrapped) {
  for (const protocol of ['cli', 'acp'] as const) {
    const needed = protocol === 'cli' ? ([tool] as const) : ([tool, `${tool}-acp`] as const);
    describe(`the real ${tool} by ${protocol} in a wrap`, {
      skip: toolMissing(...needed),
    }, () => {
      let bench: ToolBench;
      before(async () => {
        // With bwrap on the PATH, Codex starts no command if its home is in /tmp or /dev.
        bench = await startToolBench(needed, {}, { parent: cacheDirectory() });
      });
      after(async () => await bench?.close());

      it('does its work, and sees no key of the person', async () => {
        const { home, env } = bench.place;
        mkdirSync(join(home, '.ssh'));
        writeFileSync(join(home, '.ssh/id'), 'a secret key');
        const planted = join(bench.folder, 'planted');
        const turns = [
          ...[shell(`cat ${home}/.ssh/id`), shell(`touch ${planted}`)],
          ...[write('greeting.txt', 'hello\n'), say('It is there.')],
        ];
        bench.model.script({ wrapped: turns });
        const jobId = await bench.enqueue('Write a greeting. [scenario wrapped]');
        const settings = {
          isolation: 'wrap',
          hold: '20s',
          ...(protocol === 'cli'
            ? {}
            : { permissions: ['allow execute cat *', 'allow execute touch *'] }),
          tool: {
            ...{ name: tool, protocol },
            ...(tool === 'claude' && protocol === 'cli'
              ? { allow: ['Bash(cat:*)', 'Bash(touch:*)'] }
              : {}),
          },
        };
        const machine = bench.machineWith({ PATH: `${directory}:${env.PATH}` });
        const line = ['agent', 'start', '--once', ...configFlag(bench.folder, settings)];
        const agent = await machine.run(line);
        const { job, events } = await bench.readJob(jobId);
        const text = JSON.stringify(events);
        assert.equal(agent.code, 0, `${agent.stderr}\n${agent.stdout}\n${text}`);
        assert.match(agent.stdout, /Isolation +wrap/);
        const { branch = '', executor = {} } = job.evidence ?? {};
        assert.equal(git(bench.clone, 'show', `${branch}:greeting.txt`), 'hello');
        const { rungs } = executor.isolation as { rungs: string[] };
        assert.ok(rungs.includes('wrap'));
        assert.match(text, /\.ssh\/id/, 'it has tried');
        assert.ok(!text.includes('a secret key'), text);
        assert.ok(!existsSync(planted));
        bench.checkRequests();
      });
    });
  }
}
