import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
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

const messageMoments = [
  'when the message is at the hub only',
  'when the tool has the prompt and has not stored it',
  'when the tool has stored the prompt and says nothing',
  'when the tool works on it',
] as const;

test('kill -9 loses no message to a running job, and the tool acts on each once', async (t) => {
  const h = await setupAcp(t, true);
  const scene = new KillScene(h);
  t.after(() => scene.end());
  scene.startAgent();
  for (const [row, [what, parts]] of rows.entries()) {
    if (what === 'adapter') continue;
    for (const [column, moment] of messageMoments.entries()) {
      const name = `message-${row}-${column}`;
      await t.test(`${what}, ${moment}`, () => scene.playMessage(name, parts, moment));
    }
  }
});

test('a round whose parts are killed continues in the session and on the branch of its work', async (t) => {
  const h = await setupAcp(t, true);
  const scene = new KillScene(h);
  t.after(() => scene.end());
  scene.startAgent();
  let before = await h.until(await h.enqueue('sneak one; write zero.txt'), 'done');
  const { branch } = before.evidence ?? {};
  for (const [row, [what, parts]] of rows.entries()) {
    await t.test(what, async () => {
      before = await scene.playRound(`round-${row}`, parts, before.jobId);
      assert.equal(before.evidence?.branch, branch);
    });
  }
  assert.equal(h.toolLog().filter((line) => line.startsWith('new session')).length, 1);
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

  async playMessage(name: string, parts: readonly Part[], moment: (typeof messageMoments)[number]) {
    const h = this.#h;
    const { workspaceId } = h;
    const [queued, received, stored, working] = messageMoments;
    const first = this.#hold(`hold first ${name}`);
    const jobId = await h.enqueue(`sneak first ${name}`);
    await h.untilTool(new RegExp(`^begins first ${name}$`));
    const sent = await h.client.jobs.continue({
      ...{ workspaceId, jobId, message: `sneak second ${name}` },
    });
    assert.deepEqual([sent.delivery, sent.takesMessages], ['message', true]);
    const holds: Record<string, string> = { [received]: 'hold-received', [stored]: 'hold-stored' };
    const second = moment === queued ? first : this.#hold(holds[moment] ?? `hold second ${name}`);
    if (moment !== queued) rmSync(first);
    const isOfJob = new RegExp(`Message 1 to ${jobId}`);
    const mark = (verb: string) => new RegExp(`^${verb} .*${isOfJob.source}`);
    if (moment === received) await h.untilTool(mark('receives'));
    if (moment === stored) await h.untilTool(mark('prompt'));
    if (moment === working) {
      await h.untilTool(new RegExp(`^begins second ${name}$`));
      while ((await this.#messageOf(jobId))?.state !== 'delivered') await nextLook(LOOK_MS);
    } else {
      assert.equal((await this.#messageOf(jobId))?.state, 'queued');
    }
    await this.#restart(parts);
    rmSync(second);

    const job = await this.#untilEnd(jobId);
    assert.equal(job.status, 'done', String(job.message));
    const { rounds, messages = [] } = await h.client.jobs.get({ workspaceId, jobId });
    assert.deepEqual(
      messages.map(({ state }) => state),
      ['delivered'],
    );
    assert.equal(rounds, undefined);
    const log = h.toolLog();
    assert.equal(log.filter((line) => line === `ran first ${name}`).length, 1);
    assert.equal(log.filter((line) => line === `ran second ${name}`).length, 1);
    assert.equal(log.filter((line) => mark('prompt').test(line)).length, 1, 'it was told once');
  }

  async playRound(name: string, parts: readonly Part[], before: string) {
    const h = this.#h;
    const { workspaceId } = h;
    const hold = this.#hold(`hold ${name}`);
    const message = `write ${name}.txt; sneak ${name}`;
    const { job } = await h.client.jobs.continue({ workspaceId, jobId: before, message });
    await h.untilTool(new RegExp(`^begins ${name}$`));
    await this.#restart(parts);
    rmSync(hold);
    const done = await this.#untilEnd(job.jobId);
    assert.equal(done.status, 'done', String(done.message));
    return done;
  }

  #hold(name: string): string {
    const place = join(this.#h.directory, 'tool');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, name), '');
    return join(place, name);
  }

  async #messageOf(jobId: string) {
    const { workspaceId } = this.#h;
    return (await this.#h.client.jobs.get({ workspaceId, jobId })).messages?.[0];
  }

  async #restart(parts: readonly Part[]): Promise<void> {
    await this.#killAll(parts);
    if (parts.includes('hub')) await this.#h.startHub();
    if (parts.includes('agent')) this.startAgent();
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
