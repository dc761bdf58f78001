import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { git } from './git-clone.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import type { NodeProcess } from './node-process.ts';
import { callConsole } from './person.ts';
import { processesOf } from './tools/acp-bench.ts';
import { toolMissing } from './tools/install-tool.ts';
import { type JobAnswer, logOf, startToolBench, type ToolBench } from './tools/tool-bench.ts';
import { hang, native, say } from './tools/turns.ts';

const LIMIT_MS = 180_000;
/** The program of the tool, and the process that speaks ACP for it. */
const toolProgram = /\/claude-code-[^/ ]+\/claude /;

interface Asked {
  uncertaintyId: string;
  options: { value: string; description?: string }[];
}

/*
 * Real tools differ from a scripted one where they are killed: an adapter outlives its tool, a
 * session says that an interrupted call was refused, and a model asks again. These are three
 * moments of the fifteen that the agent's own test plays with a scripted tool.
 */
describe('kill -9 with the real Claude Code: one question, one answer, one run', {
  skip: toolMissing('claude', 'claude-acp'),
}, () => {
  let bench: ToolBench;
  let hub: HubProcess;
  let agent: NodeProcess;
  before(async () => {
    bench = await startToolBench(['claude', 'claude-acp']);
    hub = bench.hub;
    await startAgent();
  });
  afterEach(() => bench.checkRequests());
  after(async () => {
    agent?.child.kill('SIGQUIT');
    await agent?.ended;
    await hub?.stop();
    await bench?.close();
  });

  async function startAgent(): Promise<void> {
    agent = bench.machine.start(['agent', 'start', '--acp', 'claude', '--hold', '10m']);
    await agent.waitFor(/waiting for jobs/, LIMIT_MS);
  }

  async function kill({ child, ended }: NodeProcess): Promise<void> {
    child.kill('SIGKILL');
    await ended;
  }

  async function until<Found>(
    what: string,
    look: () => Promise<Found | null> | Found | null,
  ): Promise<Found> {
    for (const untilMs = Date.now() + LIMIT_MS; ; ) {
      const found = await look();
      if (found !== null) return found;
      if (Date.now() > untilMs) throw new Error(`no ${what}\n${agent.stdout}\n${agent.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async function listQuestions(jobId: string): Promise<Asked[]> {
    const { workspaceId, cookie } = bench.person;
    const body = { workspaceId, jobId };
    const { answer } = await callConsole(hub.baseUrl, 'uncertainties/list', body, cookie);
    return answer.uncertainties as Asked[];
  }

  const asksFor = (command: string) => native('Bash', { command, description: 'Leaves a trace' });

  /** Gives a job whose model asks for a command, and then says nothing more. */
  async function begin(name: string, command: string): Promise<{ jobId: string; asked: Asked }> {
    bench.model.script({ [name]: [asksFor(command), hang(), hang(), hang()] });
    const jobId = await bench.enqueue(`Work.\n\n[scenario ${name}]`);
    const asked = await until('question', async () => (await listQuestions(jobId))[0] ?? null);
    return { jobId, asked };
  }

  async function allowOnce({ uncertaintyId, options }: Asked): Promise<void> {
    const once = options.find(({ description }) => description === 'Allows this action once.');
    assert.ok(once);
    const { workspaceId, cookie } = bench.person;
    const answer = { mode: 'answered', value: once.value, confidence: 1 };
    const body = { workspaceId, uncertaintyId, ...answer };
    await callConsole(hub.baseUrl, 'uncertainties/add-resolution', body, cookie);
  }

  /** From now on the model asks again, as it does in a session that was interrupted. */
  function askAgain(name: string, command: string): void {
    const done = Array.from({ length: 4 }, () => say('Done.'));
    bench.model.script({ [name]: [asksFor(command), ...done] });
  }

  function killTool(jobId: string, program: RegExp): void {
    const found = processesOf(jobId).filter(({ line }) => program.test(line));
    assert.ok(found.length > 0, `no process of the job is ${program}`);
    for (const { pid } of found) process.kill(pid, 'SIGKILL');
  }

  async function endsWell(jobId: string, trace: string): Promise<JobAnswer> {
    const end = await until('end of the job', async () => {
      const answer = await bench.readJob(jobId);
      return ['done', 'failed', 'blocked'].includes(answer.job.status) ? answer : null;
    });
    const log = logOf(end);
    assert.equal(end.job.status, 'done', log);
    assert.equal(readFileSync(trace, 'utf8'), 'ran\n', 'it ran once');
    assert.equal((await listQuestions(jobId)).length, 1, 'the person was asked once');
    assert.match(log, /\[resumed session /);
    assert.doesNotMatch(log, /\[session\/create\]/, 'the adapter has no part in the log');
    return end;
  }

  it('the tool is killed while its question is open', async () => {
    const trace = join(bench.folder, 'first');
    const command = `echo ran >> ${trace}`;
    const { jobId, asked } = await begin('first', command);
    askAgain('first', command);
    killTool(jobId, toolProgram);
    await allowOnce(asked);
    await endsWell(jobId, trace);
  });

  it('the agent is killed before it hears of the answer', async () => {
    const trace = join(bench.folder, 'second');
    const command = `echo ran >> ${trace}`;
    const { jobId, asked } = await begin('second', command);
    agent.child.kill('SIGSTOP');
    await allowOnce(asked);
    await kill(agent);
    await until('end of the tool', () => processesOf(jobId).length === 0 || null);
    assert.ok(!existsSync(trace));
    askAgain('second', command);
    await startAgent();
    const { job } = await endsWell(jobId, trace);
    assert.equal(job.attempt, 2, 'the lease was released, and not waited for');
  });

  it('hub, agent, adapter and tool are killed when the tool has the answer', async () => {
    const trace = join(bench.folder, 'third');
    const [begun, go] = [`${trace}-begun`, `${trace}-go`];
    // It has no effect before the file is there.
    const command = `touch ${begun}; until [ -e ${go} ]; do sleep 0.1; done; echo ran >> ${trace}`;
    const { jobId, asked } = await begin('third', command);
    await allowOnce(asked);
    await until('start of the command', () => existsSync(begun) || null);
    await Promise.all([hub.kill(), kill(agent)]);
    killTool(jobId, /./);
    await until('end of the tool', () => processesOf(jobId).length === 0 || null);
    assert.ok(!existsSync(trace));
    askAgain('third', command);
    writeFileSync(go, '');
    const port = Number(new URL(hub.baseUrl).port);
    hub = await startHubProcess({ dataDir: join(bench.folder, 'data'), port });
    await startAgent();
    await endsWell(jobId, trace);
  });

  it('D5: a hook of the repository does not run over ACP', async () => {
    const trace = join(bench.folder, 'hook-ran');
    const hook = { type: 'command', command: `env > '${trace}'` };
    const settings = { hooks: { SessionStart: [{ hooks: [hook] }] } };
    mkdirSync(join(bench.clone, '.claude'));
    writeFileSync(join(bench.clone, '.claude/settings.json'), JSON.stringify(settings));
    git(bench.clone, 'add', '.');
    git(bench.clone, 'commit', '--quiet', '-m', 'A hook');
    bench.model.script({ hook: [say('Looked.')] });
    const jobId = await bench.enqueue('Look.\n\n[scenario hook]');
    await until('end of the job', async () =>
      (await bench.readJob(jobId)).job.status === 'done' ? true : null,
    );
    assert.ok(!existsSync(trace), 'it would see the job token and all variables of the agent');
  });
});
