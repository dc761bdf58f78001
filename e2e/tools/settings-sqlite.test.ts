import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { configFlag } from '../cli-process.ts';
import { git } from '../git-clone.ts';
import { type AcpBench, type AcpTool, acpTools, startAcpBench } from './acp-bench.ts';
import { toolMissing } from './install-tool.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { type Call, native, say, use } from './turns.ts';

/*
 * Answers to a tool before Signalbox is asked: the tool's own mode, the settings of the person
 * whose machine it is, and those of the repository. Here all of them allow everything.
 */

/** Writes settings of the person and of the repository that allow everything. */
function allowEverything(tool: AcpTool, bench: ToolBench, trace: string): void {
  const { home, claudeDir, codexDir } = bench.place;
  const put = (file: string, value: string | object) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  };
  const server = { command: 'sh', args: ['-c', `touch '${trace}-server'; cat`] };
  const inClone = (path: string) => join(bench.clone, path);
  const settings = {
    claude() {
      const allow = ['Bash(*)', 'Edit(*)', 'Write(*)', 'mcp__signalbox'];
      const permissions = { allow, defaultMode: 'auto', additionalDirectories: [bench.folder] };
      const all = { permissions, enableAllProjectMcpServers: true, env: { FROM_PERSON: 'yes' } };
      put(join(claudeDir, 'settings.json'), all);
      put(inClone('.claude/settings.json'), all);
      put(inClone('.mcp.json'), { mcpServers: { other: server, signalbox: server } });
    },
    codex() {
      const trust = `[projects."${bench.clone}"]\ntrust_level = "trusted"\n`;
      const open = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n';
      const rule = 'prefix_rule(pattern=["touch"], decision="allow")\n';
      const config = join(codexDir, 'config.toml');
      const table = `[mcp_servers.other]\ncommand = "sh"\nargs = ${JSON.stringify(server.args)}\n`;
      appendFileSync(config, trust);
      put(inClone('.codex/config.toml'), `${open}${table}`);
      put(inClone('.codex/rules/all.rules'), rule);
    },
    opencode() {
      const permission = {
        '*': 'allow',
        edit: 'allow',
        bash: 'allow',
        external_directory: 'allow',
      };
      const agent = { build: { permission } };
      const mcp = { other: { type: 'local', command: [server.command, ...server.args] } };
      put(join(home, '.config/opencode/opencode.json'), { permission, agent });
      put(inClone('opencode.json'), { permission, agent, mcp });
      put(
        inClone('.opencode/plugin/all.js'),
        `import { writeFileSync } from 'node:fs';
export const All = async () => {
  writeFileSync(${JSON.stringify(`${trace}-plugin`)}, '');
  return {};
};
`,
      );
    },
    gemini() {
      const rule = '[[rule]]\ntoolName = "run_shell_command"\ndecision = "allow"\npriority = 900\n';
      const tools = { allowed: ['run_shell_command'] };
      const security = { auth: { selectedType: 'gemini-api-key' } };
      const general = { defaultApprovalMode: 'auto_edit' };
      put(join(home, '.gemini/settings.json'), { tools, security, general });
      put(join(home, '.gemini/policies/all.toml'), rule);
      put(inClone('.gemini/settings.json'), { tools, general, mcpServers: { other: server } });
      put(inClone('.gemini/policies/all.toml'), rule);
    },
  };
  settings[tool]();
  git(bench.clone, 'add', '--all', '--force');
  git(bench.clone, 'commit', '--quiet', '-m', 'Allow everything');
}

/** A command that has an effect outside of the worktree. */
function outsideCall(tool: AcpTool, command: string): Call {
  if (tool !== 'codex') return { tool: 'shell', command };
  const input = { cmd: command, sandbox_permissions: 'require_escalated', justification: 'Test' };
  return { tool: 'native', name: 'exec_command', input };
}

const afterwards = Array.from({ length: 4 }, () => say('A name'));

async function enqueueOutside(acp: AcpBench, tool: AcpTool, trace: string): Promise<string> {
  allowEverything(tool, acp.bench, trace);
  const turns = [use(outsideCall(tool, `touch ${trace}`)), say('Ended.'), ...afterwards];
  return await acp.enqueue(turns);
}

const others = (['opencode', 'gemini'] as const).filter((tool) => !toolMissing(...acpTools[tool]));

// CI installs two tools; the others are tried where a person has installed them.
for (const tool of ['claude', 'codex', ...others] as const) {
  describe(`settings that allow everything, ${tool} over ACP`, {
    skip: toolMissing(...acpTools[tool]),
  }, () => {
    let acp: AcpBench;
    before(async () => {
      acp = await startAcpBench(tool, []);
    });
    after(() => acp?.close());

    it('a person decides, and nothing of the repository runs', async () => {
      const trace = join(acp.bench.folder, `trace-${tool}`);
      const jobId = await enqueueOutside(acp, tool, trace);
      const [question] = await acp.questions(jobId);
      assert.ok(question);
      assert.match(question.prompt, /touch/);
      assert.ok(!existsSync(trace), 'it did not run before a person has answered');
      const refusal = question.options.find((option) => option.description?.startsWith('Refuses'));
      assert.ok(refusal);
      await acp.answer(question, refusal.value);
      const { job, log } = await acp.end(jobId);
      assert.ok(!existsSync(trace), log);
      assert.deepEqual(job.evidence?.executor?.unasked, undefined);
      assert.ok(!existsSync(`${trace}-server`), 'no server of the repository is started');
      assert.ok(!existsSync(`${trace}-plugin`), 'no plugin of the repository is loaded');
    });
  });
}

describe('what no setting prevents is said', { skip: toolMissing('codex', 'codex-acp') }, () => {
  let acp: AcpBench;
  before(async () => {
    acp = await startAcpBench('codex', []);
  });
  after(() => acp?.close());

  it('codex, over ACP: rules of the person', async () => {
    const { bench } = acp;
    mkdirSync(join(bench.place.codexDir, 'rules'), { recursive: true });
    const rule = 'prefix_rule(pattern=["touch"], decision="allow")\n';
    writeFileSync(join(bench.place.codexDir, 'rules/default.rules'), rule);
    const jobId = await enqueueOutside(acp, 'codex', join(bench.folder, 'trace'));
    const { job, log } = await acp.end(jobId);
    assert.equal(job.status, 'done', log);
    const { unasked, warnings } = job.evidence?.executor ?? {};
    assert.deepEqual(unasked, [`execute: touch ${join(bench.folder, 'trace')}`]);
    assert.match(String(warnings), /Codex runs what .*default\.rules allows without its sandbox/);
    assert.match(log, /signalbox: Codex runs what .*default\.rules allows/);
    const shown = await bench.machine.run(['job', jobId]);
    assert.match(shown.stdout, /Unasked +1 action: execute: touch/);
    const other = bench.machine.start([
      ...['agent', 'start', '--tool', 'codex'],
      ...configFlag(bench.folder, { 'state-dir': join(bench.folder, 'other') }),
    ]);
    await other.waitFor(/waiting for jobs/);
    other.child.kill('SIGTERM');
    await other.ended;
    assert.match(other.stdout, /Warning +Codex runs what .*default\.rules allows/);
  });
});

describe('settings that allow everything, by the tool’s own command', {
  skip: toolMissing('claude', 'codex'),
}, () => {
  let bench: ToolBench;
  before(async () => {
    bench = await startToolBench(['claude', 'codex']);
  });
  after(() => bench?.close());

  it('claude: refuses what the agent does not allow, and keeps the person’s provider', async () => {
    const trace = join(bench.folder, 'trace-claude');
    allowEverything('claude', bench, trace);
    const turns = [
      use([
        { tool: 'shell', command: `touch ${trace}` },
        { tool: 'shell', command: 'printenv FROM_PERSON' },
      ]),
      say('Ended.'),
    ];
    const tool = { allow: ['Bash(printenv FROM_PERSON)'] };
    const { job, log } = await bench.work('claude', 'Do it.', { turns, tool });
    assert.equal(job.status, 'done', log);
    assert.ok(!existsSync(trace), log);
    assert.deepEqual(job.evidence?.executor?.denied, [`Bash: touch ${trace}`]);
    assert.equal(job.evidence?.executor?.mode, 'acceptEdits');
    assert.match(log, /\n {2}yes\n/);
    assert.ok(!existsSync(`${trace}-server`), 'no server of the repository is started');
  });

  it('codex: runs in its sandbox, even if its rules allow otherwise', async () => {
    const trace = join('/var/tmp', `signalbox-${process.pid}-codex`);
    allowEverything('codex', bench, trace);
    mkdirSync(join(bench.place.codexDir, 'rules'), { recursive: true });
    const rule = 'prefix_rule(pattern=["touch"], decision="allow")\n';
    writeFileSync(join(bench.place.codexDir, 'rules/default.rules'), rule);
    const config = join(bench.place.codexDir, 'config.toml');
    const own = 'approval_policy = "on-request"\napprovals_reviewer = "auto_review"\n';
    writeFileSync(config, `${own}${readFileSync(config, 'utf8')}`);
    const input = { cmd: `touch ${trace}` };
    const turns = [
      native('exec_command', input),
      native('exec_command', {
        ...input,
        sandbox_permissions: 'require_escalated',
        justification: 'x',
      }),
      say('Ended.'),
    ];
    const { job, log } = await bench.work('codex', 'Do it.', { turns });
    assert.equal(job.status, 'done', log);
    assert.ok(!existsSync(trace), log);
    assert.equal(job.evidence?.executor?.mode, 'workspace-write');
    assert.ok(!existsSync(`${trace}-server`), 'no server of the repository is started');
    bench.checkRequests();
  });
});
