import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, afterEach, before, describe, it, type TestContext } from 'node:test';
import { configFlag } from '../cli-process.ts';
import { git } from '../git-clone.ts';
import { needTool, toolMissing } from './install-tool.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { say, shell, use, write } from './turns.ts';

/** As `npx` and `npm run` set it: Signalbox's own packages and settings. */
const npmEnvironment = {
  npm_execpath: '/opt/signalbox/npm-cli.js',
  npm_config_ignore_scripts: 'true',
  npm_config_prefix: '/opt/signalbox',
  INIT_CWD: '/opt/signalbox',
};

/** Commands of Codex may write below the directories for temporary files. */
function outsideOfSandbox(t: TestContext): string {
  const path = mkdtempSync(join(dirname(needTool('codex').bin), 'test-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const missing = toolMissing('claude', 'codex', 'codex-acp');
describe('the record of a job of the real tool', { skip: missing }, () => {
  let bench: ToolBench;
  before(async () => {
    bench = await startToolBench(['claude', 'codex'], npmEnvironment);
  });
  afterEach(() => bench.checkRequests());
  after(() => bench?.close());

  const allowAll = { allow: ['Bash(*)'] };

  for (const tool of ['claude', 'codex'] as const) {
    const settings = tool === 'claude' ? allowAll : {};

    it(`D8: ${tool} gets nothing of the npm that started the agent`, async () => {
      const turns = [shell('env | sort'), say('Shown.')];
      const { log } = await bench.work(tool, 'Show.', { turns, tool: settings });
      assert.match(log, /SIGNALBOX_JOB_ID=/);
      assert.doesNotMatch(log, /npm_|INIT_CWD|\/opt\/signalbox/);
    });

    it(`D10: ${tool}, a failing command shows its exit code and its end`, async () => {
      const turns = [shell('seq 1 2000; echo the only failure; exit 3'), say('Failed.')];
      const { log } = await bench.work(tool, 'Test.', { turns, tool: settings });
      assert.match(log, /✖ exit code 3\n {2}1\n/);
      assert.match(log, /characters left out/);
      assert.match(log, / {2}the only failure\n/);
      assert.doesNotMatch(log, /bash -lc/);
      assert.doesNotMatch(log, /jobs\/[^/]+\/worktree/);
    });
  }

  it('D10: the output of each of several commands at once names its command', async () => {
    const calls = ['echo one', 'echo two'].map((command) => ({ tool: 'shell', command }) as const);
    const { log } = await bench.work('claude', 'Go.', {
      turns: [use(calls), say('x')],
      tool: allowAll,
    });
    assert.match(log, /Bash: echo one\n {2}one\n/);
    assert.match(log, /Bash: echo two\n {2}two\n/);
  });

  it('D4: Codex writes its question to the result file, and the job is blocked', async () => {
    const json = { outcome: 'blocked', message: 'Which database is it?' };
    const turns = [
      shell(`echo '${JSON.stringify(json)}' > "$SIGNALBOX_RESULT_FILE"`),
      say('Asked.'),
    ];
    const { job, log } = await bench.work('codex', 'Add a table.', { turns });
    assert.equal(job.status, 'blocked', log);
    assert.equal(job.message, 'Which database is it?');
  });

  it('D3: the sandbox of Codex is in the header, and counts', async () => {
    const turns = [write('new.txt', 'x\n'), say('Tried.')];
    const settings = { sandbox: 'read-only' };
    const worked = await bench.work('codex', 'Write.', { turns, tool: settings });
    assert.match(worked.agent.stdout, /codex [\d.]+ · sandbox read-only/);
    assert.deepEqual(worked.job.evidence?.changedFiles, []);
  });

  const skip = process.platform !== 'linux' && 'bubblewrap is a sandbox of Linux';
  for (const protocol of ['cli', 'acp']) {
    it(`D6: codex, by ${protocol}, does not start when the sandbox is broken`, {
      skip,
    }, async (t) => {
      // Codex uses a bwrap of the machine that has its options.
      const bin = outsideOfSandbox(t);
      const options = '--argv0 --as-pid-1 --bind-fd --perms --ro-bind-data';
      writeFileSync(
        join(bin, 'bwrap'),
        `#!/bin/sh
case "$*" in *--help*) echo "usage: bwrap ${options}"; exit 0;; esac
echo "bwrap: No permissions to create new namespace" >&2; exit 1
`,
        { mode: 0o755 },
      );
      const adapter = needTool('codex-acp').bin;
      const PATH = [bin, adapter, bench.place.env.PATH].join(delimiter);
      const broken = bench.machineWith({ PATH });
      const { code, stderr } = await broken.run([
        ...['agent', 'start', '--once'],
        ...configFlag(bench.folder, { tool: { name: 'codex', protocol } }),
      ]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /The sandbox of Codex does not work here.*bwrap: No permissions/);
      assert.match(stderr, /EXECUTOR_SANDBOX_BROKEN/);
    });
  }

  it('D13: a variable with a secret name is not shown, whichever program set it', async () => {
    const turns = [shell('export MESSAGING_TOKEN=abcdef-123456; env | grep MESSAGING_'), say('x')];
    const { log } = await bench.work('claude', 'Show.', { turns, tool: allowAll });
    assert.match(log, /MESSAGING_TOKEN=\[redacted\]/);
    assert.doesNotMatch(log, /abcdef-123456/);
  });

  it('D13: a secret of the agent in a changed file is named in the log and the evidence', async () => {
    const turns = [shell('echo "key = $SCRIPTED_MODEL_KEY" > settings.txt'), say('Written.')];
    const { job, log } = await bench.work('claude', 'Write.', { turns, tool: allowAll });
    assert.match(log, /signalbox: settings\.txt contains a secret of this agent/);
    assert.deepEqual(job.evidence?.secretsIn, ['settings.txt']);
    assert.equal(git(bench.clone, 'status', '--porcelain'), '');
  });
});
