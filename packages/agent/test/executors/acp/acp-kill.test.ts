import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as nextLook } from 'node:timers/promises';
import { type AcpSetup, setupAcp } from '../../support/acp-harness.ts';
import { git, isAlive } from '../../support/harness.ts';

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

const LOOK_MS = 100;

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

const reviewMoments = [
  'when the comments are sent and the round is not claimed',
  'when the tool has changed the lines and still works',
  'when the commits are on the branch and the hub does not know',
] as const;

test('kill -9 delivers comments to one round, with one answer and one fate each', async (t) => {
  const h = await setupAcp(t, true);
  h.env.ACP_SCRIPT_PROGRAM = '/bin/sh';
  const scene = new KillScene(h);
  t.after(() => scene.end());
  scene.startAgent();
  const lines = 'abcdef';
  const script = `feed printf '${[...lines].join('\\n')}\\n' > list.txt`;
  let before = await h.until(await h.enqueue(script), 'done');
  let line = 0;
  for (const part of ['agent', 'hub'] as const) {
    for (const moment of reviewMoments) {
      line += 1;
      await t.test(`${part}, ${moment}`, async () => {
        before = await scene.playReview(part, moment, { before: before.jobId, line });
      });
    }
  }
});

test('kill -9 of the agent during a landing moves the base once', async (t) => {
  const h = await setupAcp(t, true);
  h.env.ACP_SCRIPT_PROGRAM = '/bin/sh';
  const scene = new KillScene(h);
  t.after(() => scene.end());
  scene.startAgent();
  await t.test('before the base has moved', () => scene.playLanding('one', false));
  await t.test('when it has moved and the hub does not know', () => scene.playLanding('two', true));
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
      baseUrl,
      workspaceId,
      stateDir: join(directory, 'state'),
      displayName: 'agent',
      leaseMs: 600_000,
      killGraceMs: 500,
      repositories: [{ repoId, path: clone, landing: { checks: [this.#check] } }],
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
      assert.equal(again.action, undefined, 'no rule answers what may have run already');
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
      workspaceId,
      jobId,
      message: `sneak second ${name}`,
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
    }
    await h.untilMessage(jobId, moment === working ? 'delivered' : 'queued');
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

  /** Two comments on two lines: one is changed, and the tool disagrees with the other. */
  async playReview(
    part: Part,
    moment: (typeof reviewMoments)[number],
    { before, line }: { before: string; line: number },
  ) {
    const h = this.#h;
    const { workspaceId, clone } = h;
    const [sent, , committed] = reviewMoments;
    const letter = 'abcdef'[line - 1] ?? '';
    const place = { path: 'list.txt', side: 'result' as const, startLine: line, endLine: line };
    const commentIds: string[] = [];
    for (const text of ['In capitals.', 'Or not.']) {
      const draft = { workspaceId, jobId: before, text, place: { ...place, lines: letter } };
      commentIds.push((await h.client.reviewComments.save(draft)).comment.commentId);
    }
    const number = 2 * line - 1;
    const answers = [
      { type: 'answer', number, word: 'changed', note: 'Done.' },
      { type: 'answer', number: number + 1, word: 'disagree', note: 'It is.' },
    ].map((answer) => `echo '${JSON.stringify(answer)}' >> "$SIGNALBOX_REPORT_FILE"`);
    const change = `sed -i 's/^${letter}$/${letter.toUpperCase()}/' list.txt`;
    const message = `feed ${[change, ...answers].join(' && ')}; sneak ${line}; say Done.`;
    const working = this.#hold(`hold ${line}`);
    if (moment === committed) this.#hold('hold-check');
    if (moment === sent) await this.#kill('agent');
    const { job } = await h.client.jobs.continue({
      workspaceId,
      jobId: before,
      commentIds,
      message,
    });
    const { jobId } = job;
    const isBegun = new RegExp(`^begins ${line}$`);
    if (moment !== sent) await h.untilTool(isBegun);
    if (moment === committed) {
      rmSync(working);
      await h.untilTool(new RegExp(`^checks ${jobId}$`));
    }
    if (moment !== sent) {
      await this.#restart([part]);
    } else {
      if (part === 'hub') await this.#restart([part]);
      this.startAgent();
    }
    rmSync(working, { force: true });
    rmSync(join(h.directory, 'tool', 'hold-check'), { force: true });

    const done = await this.#untilEnd(jobId);
    assert.equal(done.status, 'done', String(done.message));
    const { rounds = [] } = await h.client.jobs.get({ workspaceId, jobId });
    assert.equal(rounds.length, line + 1, 'no further round');
    const { comments } = await h.client.reviewComments.list({ workspaceId, jobId });
    const own = comments.filter((comment) => commentIds.includes(comment.commentId));
    assert.deepEqual(
      own.map(({ sentInJobId, answer, fate }) => [sentInJobId, answer?.word, fate?.state]),
      [
        [jobId, 'changed', 'changed'],
        [jobId, 'disagree', 'changed'],
      ],
    );
    const told = h.toolLog().filter((one) => one.startsWith('prompt '));
    const of = (each: number) => told.filter((one) => one.includes(`Comment ${each} by`));
    assert.deepEqual([of(number).length, of(number + 1).length], [1, 1], 'told once');
    assert.doesNotMatch(await h.output(jobId), /a person has/);
    const range = `${String(done.evidence?.roundBaseSha)}..${String(done.evidence?.commitSha)}`;
    assert.equal(git(clone, 'rev-list', '--count', range), '1');
    return done;
  }

  async playLanding(name: string, hasMoved: boolean): Promise<void> {
    const h = this.#h;
    const { workspaceId, clone } = h;
    const done = await h.until(await h.enqueue(`feed echo new > ${name}.txt`), 'done');
    const { jobId } = done;
    const commitSha = String(done.evidence?.commitSha);
    await h.client.works.approve({ workspaceId, jobId, commitSha });
    // So that the landing merges, and checks the result.
    git(clone, 'commit', '--quiet', '--allow-empty', '-m', `By hand, ${name}`);
    const head = () => git(clone, 'rev-parse', 'main');
    const base = head();
    const held = this.#hold('hold-check');
    const { job } = await h.client.works.land({ workspaceId, jobId });
    await h.untilTool(new RegExp(`^checks ${job.jobId}$`));
    if (hasMoved) {
      await this.#kill('hub');
      rmSync(held);
      while (head() === base) await nextLook(LOOK_MS);
    }
    await this.#kill('agent');
    assert.equal(head() === base, !hasMoved);
    rmSync(held, { force: true });
    if (hasMoved) await h.startHub();
    this.startAgent();
    const { message } = await h.until(job.jobId, 'done');
    const { work } = await h.client.jobs.get({ workspaceId, jobId });
    assert.deepEqual([work?.state, work?.landed?.commitSha], ['landed', head()], String(message));
    assert.equal(git(clone, 'log', '-1', '--format=%P'), `${base} ${commitSha}`);
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

  /** A check that a test holds, as it does the tool. */
  get #check() {
    const place = join(this.#h.directory, 'tool');
    const wait = `until [ ! -e '${place}/hold-check' ]; do sleep 0.05; done`;
    const command = `echo "checks $SIGNALBOX_JOB_ID" >> '${place}/log'; ${wait}`;
    return { name: 'held', command };
  }

  #hold(name: string): string {
    const place = join(this.#h.directory, 'tool');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, name), '');
    return join(place, name);
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
