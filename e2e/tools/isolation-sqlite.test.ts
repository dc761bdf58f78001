import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { configFlag } from '../cli-process.ts';
import { git } from '../git-clone.ts';
import { cacheDirectory, toolMissing } from './install-tool.ts';
import { logOf, startToolBench, type ToolBench } from './tool-bench.ts';
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
            name: tool,
            protocol,
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

describe('a hostile command in the sandbox of the real codex', {
  skip: toolMissing('codex'),
}, () => {
  let bench: ToolBench;
  before(async () => {
    // Its sandbox lets commands write below /tmp.
    bench = await startToolBench(['codex'], {}, { parent: cacheDirectory() });
  });
  after(async () => await bench?.close());

  it('writes nowhere, reaches no port, leaves nothing, and its links lead the agent nowhere', async () => {
    const { folder, clone, hub } = bench;
    const { home } = bench.place;
    const result = join(folder, 'result.json');
    writeFileSync(result, '{"outcome":"done","message":"a secret"}');
    const port = new URL(hub.baseUrl).port;
    const planted = [
      folder,
      home,
      join(home, '.codex'),
      clone,
      join(clone, '.git/hooks'),
      '/run',
    ].map((path) => join(path, 'planted'));
    const listen = "require('node:net').createServer().listen('/run/planted')";
    const attack = [
      ...planted.map((path) => `echo planted > ${path} && echo "LEAK: ${path}"`),
      `bash -c 'echo > /dev/tcp/127.0.0.1/${port}' && echo "LEAK: port"`,
      `timeout 5 node -e "${listen}"; [ -e /run/planted ] && echo "LEAK: socket in /run"`,
      "(setsid env -i /bin/sh -c 'cd /; sleep 618; exit' < /dev/null > /dev/null 2>&1 &)",
      `ln -s ${folder} folder; ln -s ${result} "$SIGNALBOX_RESULT_FILE"`,
      'echo "it has tried"',
    ];
    bench.model.script({ hostile: [shell(attack.join('\n')), say('Done.')] });
    const jobId = await bench.enqueue('Break out. [scenario hostile]');
    const settings = { isolation: 'tool', tool: { name: 'codex', protocol: 'cli' } };
    const line = ['agent', 'start', '--once', ...configFlag(folder, settings)];
    const agent = await bench.machine.run(line);
    const { job, events } = await bench.readJob(jobId);
    const log = logOf({ job, events });
    assert.match(agent.stdout, /Isolation +tool/);
    // Its output is indented; the command itself is there, too.
    assert.match(log, /^ {2}it has tried$/m);
    assert.doesNotMatch(log, /^ {2}LEAK/m);
    assert.deepEqual(
      planted.filter((path) => existsSync(path)),
      [],
    );
    assert.equal(job.outcomeReason?.code, 'result_file_invalid', JSON.stringify(job));
    assert.ok(!JSON.stringify([job, events]).includes('a secret'), log);
    assert.deepEqual(job.evidence?.executor?.isolation, {
      rungs: ['tool'],
      proved: ['writes'],
      user: userInfo().username,
    });
    const left = spawnSync('pgrep', ['-f', '^sleep 618'], { encoding: 'utf8' }).stdout;
    assert.equal(left, '');
    bench.checkRequests();
  });
});
