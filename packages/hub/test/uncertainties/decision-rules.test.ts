import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  type AskedAction,
  consoleEndpoints,
  endpoints,
  type RequestOf,
  RULE_DAYS_MAX,
} from '@signalbox/contract';
import fc from 'fast-check';
import { deleteMembership } from '../../src/access/store.ts';
import {
  type AskedPlace,
  isAnsweredBy,
  type RuleShape,
} from '../../src/uncertainties/rule-match.ts';
import { signInFirstOwner } from '../support/console-person.ts';
import { startDecisionWorld } from '../support/decision-world.ts';

const { decisionRules } = consoleEndpoints;
const DAY_MS = 86_400_000;
const migrate: AskedAction = {
  kind: 'execute',
  words: ['npm', 'run', 'migrate', '--env', 'dev'],
  allow: 'yes-once',
  refuse: 'no',
};

/** A job that asks about actions, and a person at the console who answers. */
async function setup(t: TestContext) {
  const h = await startDecisionWorld(t);
  const person = await signInFirstOwner(h);
  const { workspaceId } = h;
  const { jobId } = await h.startJob();
  let asked = 0;
  const send = person.call;
  const ask = async (action: AskedAction, where: Partial<Parameters<typeof h.ask>[0]> = {}) => {
    asked += 1;
    const held = { jobId, agentId: h.agentId, claimGeneration: 1 };
    const options = [{ value: 'yes-once' }, { value: 'yes-always' }, { value: 'no' }];
    const { uncertaintyId } = await h.ask({
      ...held,
      kind: 'approval',
      confidence: 0,
      prompt: action.words.join(' '),
      options,
      actionKey: `act-${asked}`,
      action,
      ...where,
    });
    return uncertaintyId;
  };
  const expiresAt = new Date(h.clock.nowMs() + DAY_MS).toISOString();
  type Draft = Partial<RequestOf<typeof decisionRules.create>>;
  const create = (uncertaintyId: string, body: Draft) =>
    send(decisionRules.create, { workspaceId, uncertaintyId, expiresAt, scope: 'job', ...body });
  const refuse = async (uncertaintyId: string, body: object) => {
    const row = { workspaceId, uncertaintyId, expiresAt, scope: 'job', ...body };
    const { body: answer } = await person.send(decisionRules.create.path, row);
    return `${answer.error} ${answer.message}`;
  };
  const list = async () => (await send(decisionRules.list, { workspaceId })).rules;
  return {
    ...h,
    askPlain: h.ask,
    refuseCall: h.refuse,
    person,
    jobId,
    send,
    ask,
    create,
    refuse,
    list,
  };
}

test('an answer that becomes a rule answers the same action without a person', async (t) => {
  const h = await setup(t);
  const first = await h.ask(migrate);
  await h.answer(first, { value: 'yes-once' });
  const { rule } = await h.create(first, { scope: 'repository' });
  assert.deepEqual([rule.verdict, rule.words, rule.uses], ['allow', migrate.words, 0]);

  const next = await h.read(await h.ask({ ...migrate, allow: 'sí', refuse: 'no' }));
  assert.deepEqual([next.status, next.resolution?.value], ['resolved', 'sí'], 'its own option');
  assert.deepEqual(
    [next.resolution?.ruleId, next.resolution?.createdBy, next.resolution?.createdById],
    [rule.ruleId, 'Ada Lovelace', h.person.personId],
  );
  assert.equal((await h.list())[0]?.uses, 1);
  const other = await h.ask({ ...migrate, words: [...migrate.words.slice(0, 4), 'prod'] });
  assert.equal((await h.read(other)).status, 'open');
});

test('the answer of a rule reaches the job as that of a person does', async (t) => {
  const h = await setup(t);
  const first = await h.ask(migrate);
  await h.answer(first, { value: 'no' });
  await h.create(first, { scope: 'job' });
  const second = await h.ask(migrate);
  const { uncertainty } = await h.call(endpoints.uncertainties.wait, {
    workspaceId: h.workspaceId,
    uncertaintyId: second,
    waitMs: 0,
    peek: true,
  });
  assert.equal(uncertainty.resolution?.value, 'no');
  const { taken } = await h.call(endpoints.uncertainties.takeAnswer, {
    workspaceId: h.workspaceId,
    uncertaintyId: second,
    jobId: h.jobId,
    agentId: h.agentId,
    claimGeneration: 1,
  });
  assert.equal(taken, true);
});

test('a rule for a beginning of a command answers what begins with these words', async (t) => {
  const h = await setup(t);
  const first = await h.ask(migrate);
  await h.answer(first, { value: 'yes-once' });
  assert.match(await h.refuse(first, { prefixWords: 1 }), /prefixWords/);
  assert.match(await h.refuse(first, { prefixWords: 6 }), /at most the words of its command/);
  await h.create(first, { scope: 'repository', prefixWords: 3 });
  const words = ['npm', 'run', 'migrate', '--env', 'prod', '--force'];
  const next = await h.read(await h.ask({ ...migrate, words }));
  assert.equal(next.status, 'resolved');
  const rest = [
    ['npm', 'run', 'migrate2'],
    ['npm', 'run'],
    ['npm run migrate --env dev && rm -rf .'],
  ];
  for (const each of rest) {
    assert.equal((await h.read(await h.ask({ ...migrate, words: each }))).status, 'open');
  }
});

test('a rule answers within its scope only', async (t) => {
  const h = await setup(t);
  const first = await h.ask(migrate);
  await h.answer(first, { value: 'yes-once' });
  await h.create(first, { scope: 'job' });
  const otherJob = await h.startJob();
  const where = { jobId: otherJob.jobId };
  assert.equal((await h.read(await h.ask(migrate, where))).status, 'open', 'another job');
  await h.create(first, { scope: 'run' });
  assert.equal((await h.read(await h.ask(migrate, where))).status, 'resolved', 'the same run');

  const edit: AskedAction = { ...migrate, kind: 'edit', words: ['deploy/app.yml'] };
  const second = await h.ask(edit);
  await h.answer(second, { value: 'yes-once' });
  assert.match(await h.refuse(second, { prefixWords: 2 }), /prefixWords/, 'paths have no prefix');
});

test('a rule ends when it is revoked, when it expires, and when its person may not answer', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const first = await h.ask(migrate);
  await h.answer(first, { value: 'yes-once' });
  const answered = async () => (await h.read(await h.ask(migrate))).status === 'resolved';
  const { rule } = await h.create(first, { scope: 'repository' });
  assert.equal(await answered(), true);
  const { ruleId } = rule;
  const { rule: revoked } = await h.send(decisionRules.revoke, { workspaceId, ruleId });
  assert.equal(revoked.uses, 1);
  assert.notEqual(revoked.revokedAt, null);
  assert.equal(await answered(), false, 'revoked');

  await h.create(first, { scope: 'repository' });
  assert.equal(await answered(), true);
  const expiresAt = new Date(h.clock.nowMs() + 1_000).toISOString();
  const { rule: newest } = await h.create(first, { scope: 'run' });
  await h.send(decisionRules.revoke, { workspaceId, ruleId: newest.ruleId });
  assert.deepEqual(
    (await h.list()).map(({ revokedAt }) => revokedAt === null),
    [true, false, false],
    'one that answers is before newer ones that have ended',
  );
  for (const { ruleId: id, revokedAt } of await h.list()) {
    if (revokedAt === null) await h.send(decisionRules.revoke, { workspaceId, ruleId: id });
  }
  await h.create(first, { scope: 'repository', expiresAt });
  h.clock.advance(1_000);
  assert.equal(await answered(), false, 'expired');

  await h.create(first, { scope: 'repository' });
  await h.hub.database.write(workspaceId, (tx) =>
    deleteMembership(tx, workspaceId, h.person.personId),
  );
  assert.equal(await answered(), false, 'no member any more');
});

test('rules that disagree leave the question to a person', async (t) => {
  const h = await setup(t);
  const [first, second] = [await h.ask(migrate), await h.ask(migrate)];
  await h.answer(first, { value: 'yes-once' });
  await h.answer(second, { value: 'no' });
  await h.create(first, { scope: 'repository', prefixWords: 2 });
  await h.create(second, { scope: 'job' });
  assert.equal((await h.read(await h.ask(migrate))).status, 'open');
});

test('only an answer that allows or refuses the action once becomes a rule', async (t) => {
  const h = await setup(t);
  const open = await h.ask(migrate);
  assert.match(await h.refuse(open, {}), /must have an answer that allows or refuses/);
  const undone = await h.ask(migrate);
  await h.answer(undone, { value: 'yes-once', undoMs: 5_000 });
  assert.match(await h.refuse(undone, {}), /cannot be undone any more/);
  await h.answer(open, { value: 'yes-always' });
  assert.match(await h.refuse(open, {}), /must have an answer that allows or refuses/);
  const { uncertaintyId: plain } = await h.askPlain();
  await h.answer(plain, { value: 'blue' });
  assert.match(await h.refuse(plain, {}), /must be about an action/);
  const good = await h.ask(migrate);
  await h.answer(good, { value: 'no' });
  const late = new Date(h.clock.nowMs() + (RULE_DAYS_MAX + 1) * DAY_MS).toISOString();
  assert.match(await h.refuse(good, { expiresAt: late }), /within the next 90 days/);
});

test('the preview has the past questions that the rule would have answered', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const past = await h.ask({ ...migrate, words: ['npm', 'run', 'migrate'] });
  await h.ask({ ...migrate, words: ['npm', 'run', 'seed'] });
  const own = await h.ask(migrate);
  await h.answer(own, { value: 'yes-once' });
  const shape = { workspaceId, uncertaintyId: own, scope: 'repository', prefixWords: 3 } as const;
  const { count, questions, verdict, words } = await h.send(decisionRules.preview, shape);
  assert.deepEqual([count, verdict, words], [1, 'allow', ['npm', 'run', 'migrate']]);
  assert.deepEqual(
    questions.map(({ uncertaintyId, title }) => [uncertaintyId, title]),
    [[past, 'npm run migrate']],
  );
});

test('only agents say what a question is about', async (t) => {
  const h = await setup(t);
  const { jobId, jobToken } = await h.startJob();
  const { workspaceId } = h;
  const body = { workspaceId, jobId, kind: 'approval', confidence: 0, prompt: 'May I?' } as const;
  const { createWithAutoPromotion: row } = endpoints.uncertainties;
  const ofTool = { ...body, action: migrate };
  await h.refuseCall(row, ofTool, 'NOT_ALLOWED', jobToken);
  const { message } = await h.refuseCall(row, ofTool, 'INVALID_REQUEST');
  assert.match(message, /needs actionKey, and kind approval/);
  const long = { ...migrate, words: ['x'.repeat(4_000), 'y'.repeat(4_000)] };
  const tooLong = { ...body, action: long, actionKey: 'a' };
  assert.match((await h.refuseCall(row, tooLong, 'INVALID_REQUEST')).message, /at most 8000/);
});

const word = fc.constantFrom('npm', 'run', 'npm run', '*');
const words = fc.array(word, { minLength: 1, maxLength: 3 });
const id = fc.constantFrom('a', 'b');
const maybeId = fc.option(id, { nil: null });
const rule: fc.Arbitrary<RuleShape> = fc.record({
  scope: fc.constantFrom('job', 'run', 'repository'),
  repoId: id,
  runId: maybeId,
  jobId: maybeId,
  kind: fc.constantFrom('execute', 'edit'),
  words,
  isPrefix: fc.boolean(),
});
const place: fc.Arbitrary<AskedPlace> = fc.record({
  repoId: maybeId,
  runId: maybeId,
  jobId: maybeId,
  action: fc.record({ kind: fc.constantFrom('execute', 'edit', 'fetch'), words }),
});

test('no rule answers outside of its scope and its action, for any commands', () => {
  let answered = 0;
  fc.assert(
    fc.property(rule, place, (one, asked) => {
      if (!isAnsweredBy(one, asked)) return;
      answered += 1;
      assert.equal(asked.repoId, one.repoId);
      if (one.scope === 'run') assert.ok(asked.runId !== null && asked.runId === one.runId);
      if (one.scope === 'job') assert.ok(asked.jobId !== null && asked.jobId === one.jobId);
      assert.equal(asked.action.kind, one.kind);
      const isWhole = !one.isPrefix || one.kind !== 'execute';
      const compared = isWhole ? asked.action.words : asked.action.words.slice(0, one.words.length);
      assert.deepEqual(compared, one.words);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(answered > 20, `${answered} of the rules answered`);
});
