import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { ReviewComment } from '@signalbox/contract';
import type { StartedProcess } from '../scripts/process/start-process.ts';
import { configFlag } from './cli-process.ts';
import { git } from './git-clone.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { callConsole } from './person.ts';
import { processesOf } from './tools/acp-bench.ts';
import { toolMissing } from './tools/install-tool.ts';
import { logOf, startToolBench, type ToolBench } from './tools/tool-bench.ts';
import { hang, native, say, write } from './tools/turns.ts';

const LIMIT_MS = 180_000;
const toolProgram = /\/claude-code-[^/ ]+\/claude /;
/** The process that speaks ACP for it. */
const adapterProgram = /claude-agent-acp/;

interface Asked {
  uncertaintyId: string;
  prompt: string;
  options: { value: string; description?: string }[];
}

/*
 * Real tools differ from a scripted one where they are killed: an adapter outlives its tool, a
 * session says that an interrupted call was refused, and a model asks again. These are some of the
 * moments that the agent's own test plays with a scripted tool.
 */
describe('kill -9 with the real Claude Code: an answer is kept, and allows one run', {
  skip: toolMissing('claude', 'claude-acp'),
}, () => {
  let bench: ToolBench;
  let hub: HubProcess;
  let agent: StartedProcess;
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
    const settings = { tool: { name: 'claude', protocol: 'acp' }, hold: '10m' };
    const line = ['agent', 'start', ...configFlag(bench.folder, settings)];
    agent = bench.machine.start(line);
    await agent.waitFor(/waiting for jobs/, LIMIT_MS);
  }

  async function kill({ child, ended }: StartedProcess): Promise<void> {
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

  /** Whether a session of Claude Code that began with a prompt is on disk. */
  function isStored(prompt: string): boolean {
    const folder = join(bench.place.claudeDir, 'projects');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return files
      .filter((file) => file.endsWith('.jsonl'))
      .some((file) => readFileSync(join(folder, file), 'utf8').includes(prompt));
  }

  const asksFor = (command: string) => native('Bash', { command, description: 'Leaves a trace' });

  /** Gives a job whose model asks for a command, and then says nothing more. */
  async function begin(name: string, command: string): Promise<{ jobId: string; asked: Asked }> {
    bench.model.script({ [name]: [asksFor(command), hang(), hang(), hang()] });
    const jobId = await bench.enqueue(`Work.\n\n[scenario ${name}]`);
    const asked = await until('question', async () => (await listQuestions(jobId))[0] ?? null);
    // The agent asks when the session is on disk, or after a while without it. Here, tools are
    // killed when it is: what becomes of a lost one is tried by `acp-scenarios.test.ts`.
    await until('session on disk', () => isStored(`[scenario ${name}]`) || null);
    return { jobId, asked };
  }

  const allowOnce = (asked: Asked) => choose(asked, 'Allows this action once.');
  const refuse = (asked: Asked) => choose(asked, 'Refuses this action.');

  async function choose({ uncertaintyId, options }: Asked, meaning: string): Promise<void> {
    const chosen = options.find(({ description }) => description === meaning);
    assert.ok(chosen);
    const { workspaceId, cookie } = bench.person;
    const answer = { mode: 'answered', value: chosen.value, confidence: 1 };
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
    for (const { pid } of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        // It ended with one that was killed before it.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  /** The question that follows when the tool that had the answer is gone. */
  async function findSecond(jobId: string, first: Asked): Promise<Asked> {
    const again = await until('second question', async () => {
      const asked = await listQuestions(jobId);
      return asked.find(({ uncertaintyId }) => uncertaintyId !== first.uncertaintyId) ?? null;
    });
    assert.match(again.prompt, /\(it may have run already\)$/);
    return again;
  }

  async function endsWell(jobId: string, trace: string, { asked = 1, runs = 1 } = {}) {
    const end = await until('end of the job', async () => {
      const answer = await bench.readJob(jobId);
      return ['done', 'failed', 'blocked'].includes(answer.job.status) ? answer : null;
    });
    const log = logOf(end);
    assert.equal(end.job.status, 'done', log);
    assert.equal(readFileSync(trace, 'utf8'), 'ran\n'.repeat(runs), 'how often it ran');
    assert.equal((await listQuestions(jobId)).length, asked, 'how often the person was asked');
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
    // An answer that the adapter gets before it has noticed would count as used.
    await until('resumed session', async () =>
      /\[resumed session /.test(logOf(await bench.readJob(jobId))) ? true : null,
    );
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
    await allowOnce(await findSecond(jobId, asked));
    await endsWell(jobId, trace, { asked: 2 });
  });

  /** A command that has its effect first, and then runs until it is ended. */
  async function beginWithEffect(name: string) {
    const trace = join(bench.folder, name);
    const command = `echo ran >> ${trace}; touch ${trace}-begun; sleep 600`;
    const { jobId, asked } = await begin(name, command);
    await allowOnce(asked);
    await until('start of the command', () => existsSync(`${trace}-begun`) || null);
    return { jobId, asked, trace, command };
  }

  it('the agent is killed while the command runs: it runs again only by a second answer', async () => {
    const { jobId, asked, trace, command } = await beginWithEffect('fourth');
    await kill(agent);
    await until('end of the tool', () => processesOf(jobId).length === 0 || null);
    askAgain('fourth', command);
    await startAgent();
    const again = await findSecond(jobId, asked);
    assert.equal(readFileSync(trace, 'utf8'), 'ran\n', 'not without an answer');
    await refuse(again);
    await endsWell(jobId, trace, { asked: 2 });
  });

  it('the adapter is killed while the command runs: each answer allows one run', async () => {
    const { jobId, asked, trace } = await beginWithEffect('fifth');
    askAgain('fifth', `echo ran >> ${trace}; touch ${trace}-begun; sleep 600`);
    killTool(jobId, adapterProgram);
    const again = await findSecond(jobId, asked);
    assert.equal(readFileSync(trace, 'utf8'), 'ran\n', 'not without an answer');
    await refuse(again);
    await endsWell(jobId, trace, { asked: 2 });
  });

  it('the agent is killed when the tool has answered comments: the answers and fates are kept', async () => {
    const { model, person } = bench;
    const { workspaceId, cookie } = person;
    const call = async (path: string, body: object) =>
      (await callConsole(hub.baseUrl, path, { workspaceId, ...body }, cookie)).answer;
    const done = (jobId: string) =>
      until('end of the job', async () =>
        (await bench.readJob(jobId)).job.status === 'done' ? true : null,
      );
    model.script({ comments: [write('list.txt', 'one\ntwo\n'), say('Written.')] });
    const firstId = await bench.enqueue('Write a list.\n\n[scenario comments]');
    await done(firstId);
    const commentIds: string[] = [];
    for (const [at, lines] of ['one', 'two'].entries()) {
      const place = { path: 'list.txt', side: 'result', startLine: at + 1, endLine: at + 1 };
      const draft = { jobId: firstId, text: 'In capitals.', place: { ...place, lines } };
      const { comment } = await call('review-comments/save', draft);
      commentIds.push((comment as ReviewComment).commentId);
    }
    const answer = (number: number, word: string, note: string) =>
      native('mcp__signalbox__answer_comment', { number, word, note });
    const answers = [answer(1, 'changed', 'It is ONE.'), answer(2, 'disagree', 'It is a name.')];
    model.script({ comments: [write('list.txt', 'ONE\ntwo\n'), ...answers, hang()] });
    const calls = model.callsOf('comments');
    const { job } = await call('jobs/continue', { jobId: firstId, commentIds });
    const { jobId } = job as { jobId: string };
    await until('calls of the model', () => model.callsOf('comments') >= calls + 4 || null);
    await until('session on disk', () => isStored('It is a name.') || null);
    await kill(agent);
    await until('end of the tool', () => processesOf(jobId).length === 0 || null);
    model.script({ comments: [say('Done.'), say('Done.')] });
    await startAgent();
    await done(jobId);
    const { comments } = await call('review-comments/list', { jobId });
    const seen = (comments as ReviewComment[]).map(({ sentInJobId, answer, fate }) => [
      ...[sentInJobId, answer?.word, answer?.note, fate?.state],
    ]);
    assert.deepEqual(seen, [
      [jobId, 'changed', 'It is ONE.', 'changed'],
      [jobId, 'disagree', 'It is a name.', 'untouched'],
    ]);
    const told = JSON.stringify(model.requests.at(-1)?.body).match(/Comment 1 by /g);
    assert.equal(told?.length, 1, 'the session was told once');
    const { rounds } = await call('jobs/get', { jobId });
    assert.equal((rounds as object[]).length, 2, 'no further round');
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
