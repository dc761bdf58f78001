import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createClient } from '@signalbox/sdk';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, makeClone, onTerminal as openTerminal, startHub } from './harness.ts';

/** The hub runs without authentication, so the command acts as the operator. */
let place: HubPlace;
let clone: string;
let workspaceId: string;
let runId: string;
before(async () => {
  place = await startHub({ SVC_DEV_ALLOW_UNAUTH: 'true' });
  clone = makeClone(place, 'api');
  place.env.SIGNALBOX_WORKSPACE = 'dev';
  const { repo } = await json(['repo', 'link', '.']);
  ({ workspaceId } = repo);
  ({ runId } = await client().runs.upsertV1({
    workspaceId,
    repoId: repo.repoId,
    runRef: 'health',
    title: 'Health check',
    status: 'in_progress',
  }));
});
after(async () => await place.end());

const client = () => createClient({ baseUrl: place.url });

async function run(args: readonly string[], input?: string) {
  return await place.run(args, { cwd: clone, ...(input === undefined ? {} : { input }) });
}

async function json(args: readonly string[]) {
  const { stdout, stderr, exitCode } = await run([...args, '--json']);
  assert.equal(exitCode, exitCodes.ok, stderr);
  return JSON.parse(stdout);
}

type Ask = Parameters<ReturnType<typeof client>['uncertainties']['createWithAutoPromotion']>[0];

/** Asks a question and returns its ID. */
async function ask(more: Partial<Ask> = {}): Promise<string> {
  const { uncertaintyId } = await client().uncertainties.createWithAutoPromotion({
    workspaceId,
    runId,
    prompt: 'May the check report the version?',
    kind: 'approval',
    confidence: 0.2,
    impact: 'medium',
    reversibility: 'easy',
    options: [
      { value: 'yes', label: 'Report it' },
      { value: 'no', label: 'Leave it out' },
    ],
    ...more,
  });
  return uncertaintyId;
}

async function resolutionOf(uncertaintyId: string) {
  const { uncertainty } = await client().uncertainties.get({ workspaceId, uncertaintyId });
  return uncertainty.resolution;
}

const answerIn = async (id: string) => (await resolutionOf(id))?.value ?? null;

const onTerminal = (columns: number, args: readonly string[]) =>
  openTerminal(place, clone, columns, args);

test('an empty inbox says so', async () => {
  assert.equal((await run(['inbox'])).stdout, 'No open questions.\n');
  assert.deepEqual(await json(['inbox']), { ok: true, uncertainties: [], nextCursor: null });
});

test('the inbox lists open questions with deadline and job, and fits narrow terminals', async () => {
  const { jobId } = await json(['enqueue', 'Add a health check', '--run', runId]);
  const deadlineAt = new Date(Date.now() + 2.5 * 3_600_000).toISOString();
  const prompt = 'A rather long question that does not fit into a narrow terminal at all?';
  const id = await ask({ prompt, deadlineAt, jobId });
  const { uncertainties } = await json(['inbox', '--kind', 'approval', '--repo', '.']);
  assert.deepEqual(
    uncertainties.map((each: Record<string, unknown>) => [each.uncertaintyId, each.jobId]),
    [[id, jobId]],
  );
  assert.deepEqual((await json(['inbox', '--kind', 'risk'])).uncertainties, []);
  const plain = await run(['inbox']);
  assert.match(plain.stdout, /^QUESTION +KIND +TITLE +DEADLINE +WAITING +JOB +AGE +REPOSITORY/);
  assert.match(plain.stderr, new RegExp(`signalbox answer ${id.slice(-8)}`));
  for (const columns of [60, 80]) {
    const { output } = await onTerminal(columns, ['inbox']).ended;
    assert.notEqual(output, stripVTControlCharacters(output), 'it has colours');
    const lines = stripVTControlCharacters(output).split(/\r?\n/);
    assert.match(
      lines.join('\n'),
      new RegExp(`${id.slice(-8)} .*A rather long question th.*2h \\d+m`),
    );
    for (const line of lines) assert.ok(line.length <= columns, line);
  }
  await json(['answer', id, '--dismiss']);
  assert.equal((await run(['inbox'])).stdout, 'No open questions.\n');
});

test('answer chooses an option by value or label, by the end of the ID', async () => {
  const first = await ask();
  const answered = await run(['answer', first.slice(-8), '--option', 'yes']);
  assert.equal(answered.exitCode, exitCodes.ok, answered.stderr);
  assert.equal(answered.stdout, '✔ Answered: yes\n');
  assert.equal(await answerIn(first), 'yes');
  const second = await ask();
  const { uncertainty } = await json(['answer', second, '--option', 'Leave it out']);
  assert.deepEqual([uncertainty.status, uncertainty.resolution.value], ['resolved', 'no']);
});

test('answer --alike answers all questions of a row, says which, and no others', async () => {
  const region = {
    prompt: 'Which region?',
    kind: 'choice' as const,
    impact: 'low' as const,
    options: [{ value: 'eu' }, { value: 'us' }],
  };
  const first = await ask(region);
  const second = await ask(region);
  const other = await ask({ ...region, prompt: 'Which zone?' });
  const listed = await run(['inbox']);
  assert.match(listed.stdout, /2 × Which region\?/);
  assert.match(listed.stderr, /All 2 of a row: signalbox answer \S{8} --alike/);
  const both = await run(['answer', second, '--alike', '--option', 'eu']);
  assert.equal(both.exitCode, exitCodes.ok, both.stderr);
  assert.match(both.stdout, /^✔ Answered 2 questions: eu\n/);
  for (const id of [first, second]) {
    assert.equal(await answerIn(id), 'eu');
    assert.match(both.stdout, new RegExp(`^ {2}${id.slice(-8)}$`, 'm'));
  }
  assert.equal(await answerIn(other), null);
  const late = await run(['answer', first, '--alike', '--option', 'us']);
  assert.equal(late.exitCode, exitCodes.refused, late.stderr);
  assert.match(late.stderr, /not open any more/);
  const unclear = await run(['answer', other, '--alike', '--replace', '--option', 'us']);
  assert.equal(unclear.exitCode, exitCodes.usage, unclear.stderr);
  // Nothing else is like this one.
  await json(['answer', other, '--alike', '--option', 'us']);
  assert.equal(await answerIn(other), 'us');
});

test('a table in a question is aligned within the width of the terminal', async () => {
  const prompt = 'Which file?\n\n| file | lines |\n|---|--:|\n| src/日本.ts | 7 |\n| a.ts | 12 |';
  const id = await ask({ prompt });
  const { output } = await onTerminal(60, ['answer', id, '--text', 'a.ts']).ended;
  assert.match(output, /Answered: a\.ts/);
  const shown = onTerminal(60, ['answer', id, '--replace']);
  await shown.shows(/ {2}file {9}lines\r?\n {2}─{11} {2}─{5}\r?\n {2}src\/日本\.ts {6}7/);
  shown.type('\u0003');
  await shown.ended;
});

test('the value of an option comes before the label of another one', async () => {
  const id = await ask({
    options: [
      { value: 'no', label: 'yes' },
      { value: 'yes', label: 'no' },
    ],
  });
  await json(['answer', id, '--option', 'yes']);
  assert.equal(await answerIn(id), 'yes');
});

test('answer takes own words, from a pipe too, and dismisses', async () => {
  const [own, piped, dismissed] = [await ask(), await ask(), await ask()];
  await json(['answer', own, '--text', 'Only for operators']);
  assert.equal(await answerIn(own), 'Only for operators');
  assert.equal((await run(['answer', piped, '--text', '-'], 'Line 1\nLine 2\n')).exitCode, 0);
  assert.equal(await answerIn(piped), 'Line 1\nLine 2');
  await json(['answer', dismissed, '--dismiss']);
  assert.equal((await resolutionOf(dismissed))?.mode, 'dismissed');
});

test('a missing, empty, unclear or unknown answer is a usage error and resolves nothing', async () => {
  const id = await ask();
  for (const [args, text] of [
    [[], /Its options are "yes", "no"/],
    [['--text', ' '], /answer is empty/],
    [['--option', 'yes', '--dismiss'], /only one of/],
    [['--option', 'maybe'], /no option "maybe"\. Its options are "yes", "no"/],
  ] as const) {
    const { exitCode, stderr } = await run(['answer', id, ...args]);
    assert.equal(exitCode, exitCodes.usage, stderr);
    assert.match(stderr, text);
  }
  assert.equal(await resolutionOf(id), null);
  const unknown = await run(['answer', 'ffffffff', '--dismiss']);
  assert.equal(unknown.exitCode, exitCodes.refused);
  assert.match(unknown.stderr, /UNCERTAINTY_NOT_FOUND|signalbox inbox/);
  await json(['answer', id, '--dismiss']);
});

test('who comes second reads who answered, when and what, and may replace it', async () => {
  const id = await ask();
  await json(['answer', id, '--option', 'yes']);
  const { createdBy } = (await resolutionOf(id)) ?? {};
  const late = await run(['answer', id, '--option', 'no']);
  assert.equal(late.exitCode, exitCodes.refused);
  assert.ok(late.stderr.includes(`${createdBy} answered "yes" at 20`), late.stderr);
  assert.match(late.stderr, /Fix .*signalbox answer ID --replace/);
  assert.match(late.stderr, /ALREADY_RESOLVED/);
  assert.equal(await answerIn(id), 'yes');
  await json(['answer', id, '--option', 'no', '--replace']);
  assert.equal(await answerIn(id), 'no');
});

test('on a terminal the question is shown, and Enter gives the recommended answer', async () => {
  const id = await ask({ context: 'The endpoint is public.', recommendedValue: 'no' });
  const terminal = onTerminal(80, ['answer', id]);
  await terminal.shows(/Leave it out \(no\) \[recommended\]/);
  terminal.type('\r');
  const { exitCode, output } = await terminal.ended;
  assert.equal(exitCode, exitCodes.ok, output);
  const text = stripVTControlCharacters(output);
  for (const part of ['May the check report the version?', 'The endpoint is public.', 'acme/api']) {
    assert.ok(text.includes(part), text);
  }
  assert.match(text, /Answered: no/);
  assert.equal(await answerIn(id), 'no');
});

test('without an ID, a terminal offers the open questions; a program is told them', async () => {
  assert.match((await run(['answer', '--dismiss'])).stderr, /None is open/);
  const none = onTerminal(80, ['answer']);
  const { exitCode: noneCode, output } = await none.ended;
  assert.equal(noneCode, exitCodes.ok, output);
  assert.match(output, /No open questions\./);
  const first = await ask({ prompt: 'Which port?' });
  const only = onTerminal(80, ['answer']);
  await only.shows(/Which port\?[\s\S]*Your answer\?/);
  only.type('\u0003');
  assert.equal((await only.ended).exitCode, exitCodes.interrupted);
  const second = await ask({ prompt: 'Which host?' });
  const { exitCode, stderr } = await run(['answer', '--option', 'yes']);
  assert.equal(exitCode, exitCodes.usage);
  for (const [id, title] of [
    [first, 'Which port?'],
    [second, 'Which host?'],
  ]) {
    assert.ok(stderr.includes(`${id?.slice(-8)}  ${title}`), stderr);
  }
  const terminal = onTerminal(80, ['answer', '--option', 'no']);
  await terminal.shows(/Which question\?[\s\S]*● Which port\?/);
  const arrowDown = '\u001b[B';
  terminal.type(arrowDown);
  await terminal.shows(/● Which host\?/);
  terminal.type('\r');
  assert.equal((await terminal.ended).exitCode, exitCodes.ok);
  assert.deepEqual([await answerIn(first), await answerIn(second)], [null, 'no']);
  await json(['answer', first, '--dismiss']);
});

test('without a recommendation Enter alone chooses no option', async () => {
  const id = await ask();
  const terminal = onTerminal(80, ['answer', id]);
  await terminal.shows(/Another answer/);
  terminal.type('\r');
  await terminal.shows(/In your own words/);
  terminal.type('Ask the operators\r');
  const { exitCode, output } = await terminal.ended;
  assert.equal(exitCode, exitCodes.ok, output);
  assert.equal(await answerIn(id), 'Ask the operators');
});

test('who loses the race in the dialog reads who answered; Ctrl-C answers nothing', async () => {
  const id = await ask({ recommendedValue: 'no' });
  const terminal = onTerminal(80, ['answer', id]);
  await terminal.shows(/\[recommended\]/);
  await json(['answer', id, '--text', 'Faster']);
  terminal.type('\r');
  const { exitCode, output } = await terminal.ended;
  assert.equal(exitCode, exitCodes.refused, output);
  assert.match(stripVTControlCharacters(output), /answered "Faster" at/);
  const other = await ask({ recommendedValue: 'no' });
  const left = onTerminal(80, ['answer', other]);
  await left.shows(/\[recommended\]/);
  left.type('\u0003');
  assert.equal((await left.ended).exitCode, exitCodes.interrupted);
  assert.equal(await resolutionOf(other), null);
  await json(['answer', other, '--dismiss']);
});

test('the texts of a question cannot control the terminal', async () => {
  const evil = (text: string) => `${text} \u001b[2J\u001b]0;x\u0007\u202e`;
  const id = await ask({
    prompt: evil('Question'),
    context: evil('Context'),
    impact: evil('Impact'),
    options: [{ value: evil('v'), label: evil('Label'), description: evil('d') }],
    recommendedValue: evil('v'),
  });
  const terminal = onTerminal(80, ['answer', id]);
  await terminal.shows(/\[recommended\]/);
  terminal.type('\u0003');
  const { output } = await terminal.ended;
  const inbox = await run(['inbox']);
  const refused = await run(['answer', id, '--option', 'x']);
  for (const text of [output, inbox.stdout, refused.stderr]) {
    for (const unsafe of ['\u001b[2J', '\u001b]0;', '\u0007', '\u202e']) {
      assert.ok(!text.includes(unsafe), JSON.stringify(text));
    }
  }
  assert.match(stripVTControlCharacters(output), /Question/);
  await json(['answer', id, '--dismiss']);
});
