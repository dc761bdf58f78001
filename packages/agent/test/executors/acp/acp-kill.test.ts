import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as nextLook } from 'node:timers/promises';
import { type AcpSetup, setupAcp } from '../../support/acp-harness.ts';
import { isAlive } from '../../support/harness.ts';

type Part = 'tool' | 'adapter' | 'agent' | 'hub';
const rows: readonly [what: string, parts: readonly Part[]][] = [
  ['tool', ['tool']],
  ['adapter', ['adapter']],
  ['agent', ['agent']],
  ['hub', ['hub']],
  ['hub, agent, adapter and tool', ['hub', 'agent', 'adapter', 'tool']],
];
const moments = [
  'when the question is open',
  'when the answer is at the hub only',
  'when the tool has the answer and has not acted',
  'when the tool has acted and has not said so',
] as const;
const acted = moments[3];
/** The others are the same for an action that has run as for one that has not. */
const playedWhenActed: ReadonlySet<string> = new Set(['adapter', 'agent']);

const LOOK_MS = 50;

const support = join(import.meta.dirname, '../../support');

test('kill -9 loses no answer, and an action runs at most once for each answer', async (t) => {
  const h = await setupAcp(t, true);
  const scene = new KillScene(h);
  t.after(() => scene.end());
  scene.startAgent();
  for (const [row, [what, parts]] of rows.entries()) {
    for (const [column, moment] of moments.entries()) {
      if (moment === acted && !playedWhenActed.has(what)) continue;
      await t.test(`${what}, ${moment}`, () => scene.play(`${row}-${column}`, parts, moment));
    }
  }
});

/** One hub and one agent, whose parts are killed and started again. */
class KillScene {
  readonly #h: AcpSetup;
  #agent: ChildProcess | null = null;

  constructor(h: AcpSetup) {
    this.#h = h;
  }

  startAgent(): void {
    const { baseUrl, workspaceId, repoId, clone, directory, env } = this.#h;
    const options = {
      ...{ baseUrl, workspaceId, stateDir: join(directory, 'state'), displayName: 'agent' },
      ...{ leaseMs: 600_000, killGraceMs: 500, repositories: [{ repoId, path: clone }] },
      acp: `${process.execPath} ${join(support, 'acp-adapter.ts')}`,
    };
    const line = [join(support, 'acp-agent-process.ts'), JSON.stringify(options)];
    this.#agent = spawn(process.execPath, line, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  }

  async end(): Promise<void> {
    await this.#kill('agent');
  }

  async play(name: string, parts: readonly Part[], moment: (typeof moments)[number]) {
    const h = this.#h;
    const [open, answered, delivered] = moments;
    const hold = join(h.directory, 'tool', moment === acted ? 'hold-acted' : 'hold');
    const isHeld = moment === delivered || moment === acted;
    const runs = () => h.toolLog().filter((line) => line === `ran ${name}`).length;
    const jobId = await h.enqueue(`write ${name}.txt; run ${name}; say Done.`);
    const [question] = await h.questions(jobId);
    assert.ok(question);
    if (isHeld) writeFileSync(hold, '');
    // A process that is stopped hears of the answer no earlier than of the end of the others.
    if (moment === answered) this.#agent?.kill('SIGSTOP');
    if (moment !== open) await h.answer(question, 'yes');
    const sign = moment === acted ? `ran ${name}` : `gets yes for ${name}`;
    if (isHeld) await h.untilTool(new RegExp(`^${sign}$`));
    assert.equal(runs(), moment === acted ? 1 : 0);
    await this.#killAll(parts);
    if (parts.includes('hub')) await h.startHub();
    // An agent that starts again releases the lease: the 10 min are not waited for.
    if (parts.includes('agent')) this.startAgent();
    else this.#agent?.kill('SIGCONT');
    rmSync(hold, { force: true });
    if (moment === open) await h.answer(question, 'yes');
    // The tool that had the answer is gone: whether it has acted is for a person to find out.
    const isAskedAgain = isHeld && parts.some((part) => part !== 'hub');
    if (isAskedAgain) {
      const [again] = await h.questions(jobId);
      assert.ok(again);
      assert.match(again.prompt, /\(it may have run already\)$/);
      assert.match(again.context, /^A tool was given an answer to this before in this job: Yes\./);
      await h.answer(again, moment === acted ? 'no' : 'yes');
    }

    const job = await this.#untilEnd(jobId);
    assert.equal(job.status, 'done', String(job.message));
    assert.deepEqual(job.evidence?.changedFiles, [`${name}.txt`], 'its work so far is kept');
    assert.equal(runs(), 1, 'it ran once');
    const asked = (await h.allQuestions(jobId)).length;
    if (isHeld) assert.equal(asked, isAskedAgain ? 2 : 1, 'how often the person was asked');
    else assert.ok(asked <= 2, `the person was asked ${asked} times`);
  }

  /** Waits for the end of a job. An answer that went to a tool just killed is asked for again. */
  async #untilEnd(jobId: string) {
    for (;;) {
      const questions = await this.#h.allQuestions(jobId);
      for (const again of questions.filter(({ status }) => status === 'open')) {
        assert.match(again.prompt, /\(it may have run already\)$/);
        await this.#h.answer(again, 'yes');
      }
      const job = await this.#h.until(jobId, 'pending', 'running', 'blocked', 'done', 'failed');
      if (job.status === 'done' || job.status === 'failed') return job;
      await nextLook(LOOK_MS);
    }
  }

  async #killAll(parts: readonly Part[]): Promise<void> {
    const tool = this.#pidOf('tool');
    for (const part of parts) await this.#kill(part);
    // Else it could act before it sees that its client has ended.
    const endsByItself = !parts.includes('tool') && parts.some((part) => part !== 'hub');
    while (endsByItself && isAlive(tool)) await nextLook(LOOK_MS);
  }

  async #kill(part: Part): Promise<void> {
    if (part === 'hub') return await this.#h.stopHub();
    if (part !== 'agent') return this.#killTool(part);
    const agent = this.#agent;
    if (agent === null || agent.exitCode !== null || agent.signalCode !== null) return;
    agent.kill('SIGKILL');
    await once(agent, 'exit');
  }

  #pidOf(part: Part): number {
    const line = this.#h.toolLog().findLast((one) => one.startsWith(`${part} `));
    assert.ok(line, `the ${part} has written its pid`);
    return Number(line.slice(part.length + 1));
  }

  #killTool(part: Part): void {
    try {
      process.kill(this.#pidOf(part), 'SIGKILL');
    } catch (error) {
      // It has ended with the part that was killed before it.
      assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    }
  }
}
