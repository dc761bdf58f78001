import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setInterval } from 'node:timers/promises';
import type { Job, Uncertainty } from '@signalbox/contract';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import type { StartedProcess } from '../scripts/process/start-process.ts';
import { browserMissing, openVisit, type Visit, type VisitOptions } from './browser.ts';
import { createMachine, logIn, runJson } from './cli-process.ts';
import { makeClone } from './git-clone.ts';
import { configOf } from './hub-database.ts';
import { projectRoot } from './node-process.ts';
import { auditSchemes, auditScreens } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { joinWorkspace, lendSession, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const owner = ownerOf('inbox');
const { hub, browser } = usePagePlace({ after });

const desktop: VisitOptions = { viewport: { width: 1280, height: 800 } };
const phone: VisitOptions = {
  viewport: { width: 360, height: 740 },
  isMobile: true,
  hasTouch: true,
};
const screens = { desktop, phone };

/** The interval of polls for what the hub does in its own time. */
const LOOK_MS = 50;
const WAIT_MS_MAX = 30_000;
/** From the first tap to a running job (issue 12). */
const TAPS_TO_RUNNING_MS_MAX = 10_000;

const hostile =
  '<img src=x onerror=alert(1)> [click](javascript:alert(1)) https://evil.example/login ' +
  `\u202egnihsihp ${'veryLongIdentifierWithoutAnyBreak'.repeat(6)}`;

type Draft = Partial<Parameters<Client['uncertainties']['createWithAutoPromotion']>[0]>;

describe('the inbox, where people answer the questions of agents', {
  skip: browserMissing,
}, () => {
  let person: SignedIn;
  let viewer: SignedIn;
  let member: SignedIn;
  let client: Client;
  let repoId: string;
  let runId: string;
  const visits: Visit[] = [];

  before(async () => {
    person = await makeWorkspace(owner);
    member = await joinWorkspace(person, 'Grace Hopper', 'member');
    viewer = await joinWorkspace(person, 'Victor Viewer', 'viewer');
    const { token } = await mintTokenByAdmin(await configOf(dataDir), {
      workspaceSlug: owner.workspaceSlug,
      name: 'planner',
      scopes: ['enqueue', 'read', 'decide'],
    });
    client = createClient({ baseUrl: hub.baseUrl, token });
  });
  const folder = makeTempDir({ after });

  async function visit(who: SignedIn, options: VisitOptions = desktop): Promise<Page> {
    const opened = await openVisit(browser, hub.baseUrl, { ...options });
    visits.push(opened);
    await lendSession(opened.context, who);
    return opened.context.newPage();
  }

  const inbox = `/w/${owner.workspaceSlug}/inbox`;
  const pathOf = (uncertaintyId: string) => `${inbox}/${uncertaintyId}`;

  async function dismiss(uncertaintyId: string): Promise<void> {
    const answer = { mode: 'dismissed', value: '', confidence: 1 } as const;
    const { workspaceId } = person;
    await client.uncertainties.addResolution({ workspaceId, uncertaintyId, ...answer });
  }

  /** A question that no job waits for. */
  async function ask(draft: Draft = {}): Promise<string> {
    const { workspaceId } = person;
    const options = [{ value: 'blue' }, { value: 'red' }];
    const question = { prompt: 'Which colour?', kind: 'choice', options, ...draft } as const;
    const asked = { workspaceId, runId, confidence: 0.2, ...question };
    return (await client.uncertainties.createWithAutoPromotion(asked)).uncertaintyId;
  }

  async function read(uncertaintyId: string): Promise<Uncertainty> {
    const { workspaceId } = person;
    return (await client.uncertainties.get({ workspaceId, uncertaintyId })).uncertainty;
  }

  async function waitFor<Value>(
    what: string,
    look: () => Promise<Value>,
    isReached: (value: Value) => boolean,
  ): Promise<Value> {
    const signal = AbortSignal.timeout(WAIT_MS_MAX);
    let last: Value | undefined;
    try {
      for await (const _ of setInterval(LOOK_MS, null, { signal })) {
        last = await look();
        if (isReached(last)) return last;
      }
    } catch (cause) {
      throw new Error(`${what}: ${JSON.stringify(last)}`, { cause });
    }
    throw new Error(what);
  }

  const readJob = async (jobId: string): Promise<Job> =>
    (await client.jobs.get({ workspaceId: person.workspaceId, jobId })).job;

  /** Holds the page against the audit. */
  async function look(page: Page, name: string, screen: string): Promise<void> {
    assert.deepEqual(await auditSchemes(page, `inbox-${name}-${screen}`), []);
  }

  async function lookOnScreens(
    name: string,
    who: SignedIn,
    path: string,
    arrive: (page: Page) => Promise<unknown>,
  ): Promise<void> {
    for (const [screen, options] of Object.entries(screens)) {
      const page = await visit(who, options);
      await page.goto(path);
      await arrive(page);
      await look(page, name, screen);
      await page.context().close();
    }
  }

  /** A question has one page on all screens; the list beside it is on wide ones only. */
  async function lookAtCard(
    name: string,
    who: SignedIn,
    uncertaintyId: string,
    arrive: (page: Page) => Promise<unknown>,
  ): Promise<void> {
    const page = await visit(who);
    await page.goto(pathOf(uncertaintyId));
    await arrive(page);
    assert.deepEqual(await auditScreens(page, `inbox-${name}`), []);
    await page.context().close();
  }

  const radio = (page: Page, name: string | RegExp) => page.getByRole('radio', { name });
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
  const question = (page: Page, name: string) =>
    page.getByRole('article').getByRole('heading', { name });

  it('says when there is no question', async () => {
    await lookOnScreens('empty', person, inbox, (page) =>
      page.getByRole('heading', { name: 'No open questions' }).waitFor(),
    );
  });

  describe('on a phone, with a real agent', () => {
    let agent: StartedProcess;
    let jobId: string;
    const clone = join(folder, 'clone');
    const endFile = join(folder, 'end');
    const machine = createMachine(join(folder, 'machine'));

    before(async () => {
      makeClone(clone, 'git@git.acme.example:acme/api.git');
      await logIn(machine, person, owner.workspaceSlug);
      const linked = await runJson<{ repo: { repoId: string } }>(machine, ['repo', 'link', clone]);
      repoId = linked.repo.repoId;
      const { workspaceId } = person;
      const run = { workspaceId, repoId, runRef: 'health-check', status: 'in_progress' };
      runId = (await client.runs.upsertV1({ ...run, title: 'Health check' })).runId;
      const draft = { workspaceId, repoId, runId, kind: 'work' } as const;
      jobId = (await client.jobs.enqueue({ ...draft, prompt: 'Add a health check.' })).jobId;
      await client.jobs.enqueue({ ...draft, prompt: 'Deploy it.', dependsOn: [jobId] });
      const tool = join(projectRoot, 'e2e/asking-tool.ts');
      const command = `'${process.execPath}' '${tool}' '${endFile}'`;
      agent = machine.start(['agent', 'start', '--json', '--name', 'workshop', '--tool', command]);
      await agent.waitFor(/"type":"result-accepted".*"status":"blocked"/);
    });
    after(async () => {
      agent?.child.kill('SIGTERM');
      await agent?.ended;
    });

    it('leads from a blocked job to a running one by two taps, without typing, in ten seconds', async () => {
      const page = await visit(person, phone);
      await page.goto(inbox);
      const row = page.getByRole('link', { name: /Which port may the health check use/ });
      await row.waitFor();
      const startedAt = performance.now();
      await row.tap();
      const answer = button(page, 'Answer “Port 9443”');
      const { height = 0 } = (await answer.boundingBox()) ?? {};
      assert.ok(height >= 44, `the button is ${height} px high`);
      await answer.tap();
      await page.getByText('You answered').waitFor();
      await waitFor(
        'the job runs',
        () => readJob(jobId),
        ({ status }) => status === 'running',
      );
      const tookMs = performance.now() - startedAt;
      assert.ok(tookMs < TAPS_TO_RUNNING_MS_MAX, `took ${Math.round(tookMs)} ms`);
      await page.context().close();
    });

    it('gives the answer to the tool, which ends', async () => {
      writeFileSync(endFile, '');
      await agent.waitFor(/"type":"result-accepted".*"status":"done"/);
      const job = await readJob(jobId);
      assert.deepEqual([job.status, job.message], ['done', 'Port: 9443']);
      assert.equal(job.decisions[0]?.value, '9443');
    });
  });

  it('shows all that a person needs, and text of agents as text', async () => {
    const uncertaintyId = await ask({
      prompt: `May the migration drop the table?\n\n${hostile}`,
      kind: 'approval',
      context: hostile.repeat(20),
      impact: 'high: customers lose their history',
      reversibility: 'hard',
      assumedValue: 'no',
      assumedReasoning: 'A table that is gone stays gone.',
      options: [
        { value: 'yes', label: 'Drop it', description: 'The export of last night is kept.' },
        { value: 'no', label: 'Keep it', description: hostile },
      ],
      recommendedValue: 'no',
      deadlineAt: new Date(Date.now() + 45 * 60_000).toISOString(),
    });
    await lookAtCard('question', person, uncertaintyId, async (page) => {
      await question(page, 'May the migration drop the table?').waitFor();
      const card = page.getByRole('article');
      for (const text of [
        '20 %, asks below 70 %',
        'high: customers lose their history',
        'A table that is gone stays gone.',
        /then it keeps waiting/,
        'Asked by the service planner.',
      ]) {
        await card.getByText(text).first().waitFor();
      }
      assert.equal(await card.locator('a[href*="evil"], img').count(), 0, 'nothing is active');
      assert.equal(await radio(page, /Keep it/).isChecked(), true, 'the recommended one is picked');
    });
    await dismiss(uncertaintyId);
  });

  it('has room for many questions, with the nearest deadline first', async () => {
    const prompts = [
      'May the health check report the version of the build?',
      'Which of the two retry policies applies to outgoing mail?',
      'The table of invoices has two columns for the currency. Which one is right?',
      'Is the staging database a copy of production?',
      `Rename ${'veryLongIdentifierWithoutAnyBreak'.repeat(4)}?`,
    ];
    const ids = await Promise.all(prompts.map((prompt) => ask({ prompt })));
    const deadlineAt = new Date(Date.now() + 3 * 3_600_000).toISOString();
    ids.push(await ask({ prompt: 'Due first?', deadlineAt }));
    await lookOnScreens('full', person, inbox, async (page) => {
      const rows = page.getByRole('list', { name: 'Open questions' }).getByRole('link');
      await rows.first().waitFor();
      assert.match((await rows.first().textContent()) ?? '', /Due first\?/);
      const { counts } = await client.uncertainties.counts({ workspaceId: person.workspaceId });
      const begins = `(${counts.open}) `;
      await waitFor(
        'the title',
        () => page.title(),
        (title) => title.startsWith(begins),
      );
      const name = counts.open > 9 ? '9-more' : `${counts.open}`;
      const icon = await page.locator('link[rel=icon]').getAttribute('href');
      assert.equal(icon, `/favicon-${name}.svg`);
      const { headers } = await fetch(new URL(icon, page.url()));
      assert.match(headers.get('content-type') ?? '', /^image\/svg/);
    });
    for (const uncertaintyId of ids.slice(1)) {
      await dismiss(uncertaintyId);
    }
    const page = await visit(person);
    await page.goto(`${inbox}?show=answered`);
    await page.getByRole('list', { name: 'Answered questions' }).waitFor();
    await page.getByText('planner: dismissed').first().waitFor();
    await look(page, 'answered-list', 'desktop');
    await page.context().close();
  });

  it('is used by keyboard alone: move, pick, answer, undo, answer again, dismiss', async () => {
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const first = await ask({ prompt: 'The older one?', deadlineAt: inHours(1) });
    const second = await ask({ prompt: 'The newer one?', deadlineAt: inHours(2) });
    const page = await visit(person);
    await page.goto(inbox);
    await question(page, 'The older one?').waitFor();
    await page.keyboard.press('j');
    await question(page, 'The newer one?').waitFor();
    await page.keyboard.press('k');
    await question(page, 'The older one?').waitFor();
    await page.keyboard.press('2');
    await page.locator('input[type=radio]:focus').waitFor();
    assert.equal(await radio(page, 'red').isChecked(), true);
    await page.keyboard.press('ArrowUp');
    assert.equal(await radio(page, 'blue').isChecked(), true);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('status').getByText('You answered').waitFor();
    assert.equal((await read(first)).resolution?.value, 'blue');
    await page.locator('section[aria-label=Answer]:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await radio(page, 'blue').waitFor();
    assert.deepEqual([(await read(first)).status, (await read(first)).resolution], ['open', null]);
    await page.keyboard.press('3');
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type('green, 1 of 2 tones');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('status').getByText('You answered').waitFor();
    assert.equal((await read(first)).resolution?.value, 'green, 1 of 2 tones');
    await page.keyboard.press('j');
    await question(page, 'The newer one?').waitFor();
    // Nothing is recommended, so nothing is sent without a choice.
    await page.keyboard.press('Control+Enter');
    await page.getByText('Pick an answer first.').waitFor();
    assert.equal((await read(second)).status, 'open');
    await button(page, 'Dismiss').focus();
    await page.keyboard.press('Enter');
    await page.getByText('You dismissed the question').waitFor();
    assert.equal((await read(second)).resolution?.mode, 'dismissed');
    await page.context().close();
  });

  for (const [screen, options] of Object.entries(screens)) {
    it(`tells the loser of a race who answered, and lets them replace it, on a ${screen}`, async () => {
      const uncertaintyId = await ask();
      const page = await visit(member, options);
      const other = await visit(person, options);
      for (const each of [page, other]) await each.goto(pathOf(uncertaintyId));
      await radio(page, 'red').check();
      // The page must not learn of the other answer before it sends its own.
      const reads = '**/console-api/v1/uncertainties/get';
      await page.route(reads, (route) => route.abort());
      await radio(other, 'blue').check();
      await button(other, 'Answer “blue”').click();
      await other.getByText('You answered').waitFor();
      await look(other, 'answered', screen);
      const refused = page.waitForResponse(/uncertainties\/add-resolution$/);
      await button(page, 'Answer “red”').click();
      await refused;
      await page.unroute(reads);
      await page.getByText('Ada Lovelace answered first').waitFor();
      await page.getByRole('region', { name: 'Answer' }).getByText('blue').waitFor();
      await look(page, 'race-lost', screen);
      await button(page, 'Replace the answer').click();
      await radio(page, 'red').check();
      await button(page, 'Replace with “red”').click();
      await page.getByText('You answered').waitFor();
      const { resolutions } = await read(uncertaintyId);
      assert.deepEqual(
        resolutions.map(({ value }) => value),
        ['blue', 'red'],
      );
      for (const each of [page, other]) await each.context().close();
    });
  }

  it('answers alike questions together, and takes all answers back', async () => {
    const draft = {
      prompt: 'Which region?\n\n| region | cost |\n|---|---|\n| eu | 1 |\n\n`code`',
      options: [{ value: 'eu' }, { value: 'us' }],
    };
    const ids = await Promise.all(Array.from({ length: 36 }, () => ask(draft)));
    await lookOnScreens('alike', person, inbox, async (page) => {
      await page.getByRole('link', { name: /36 × Which region\?/ }).click();
      await page.getByRole('article').getByRole('cell', { name: 'eu' }).waitFor();
      await button(page, 'Answer all 36 like this').waitFor();
    });
    const page = await visit(person);
    await page.goto(inbox);
    await page.getByRole('link', { name: /36 × Which region\?/ }).click();
    await radio(page, 'eu').check();
    const all = button(page, /^Answer all 36/);
    await all.click();
    await page.getByText('Answered 36 questions').waitFor();
    await page.getByText('You answered').waitFor();
    await page.locator('[data-base-ui-portal]').getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: /36 × Which region\?/ }).waitFor();
    await radio(page, 'us').check();
    await all.click();
    await page.getByRole('link', { name: /Which region/ }).waitFor({ state: 'detached' });
    for (const id of ids) assert.equal((await read(id)).resolution?.value, 'us');
    await page.context().close();
  });

  it('takes an answered question from the inbox of everybody else', async () => {
    const uncertaintyId = await ask({ prompt: 'Gone soon?' });
    const page = await visit(person);
    const other = await visit(member);
    await page.goto(pathOf(uncertaintyId));
    await other.goto(inbox);
    const row = other.getByRole('link', { name: /Gone soon/ });
    await row.waitFor();
    await question(page, 'Gone soon?').waitFor();
    await radio(page, 'blue').check();
    await button(page, 'Answer “blue”').click();
    await row.waitFor({ state: 'detached' });
    assert.equal((await read(uncertaintyId)).resolution?.createdBy, owner.name);
    for (const each of [page, other]) await each.context().close();
  });

  it('shows viewers disabled controls with the reason', async () => {
    const uncertaintyId = await ask({ prompt: 'May viewers answer?' });
    await lookAtCard('no-permission', viewer, uncertaintyId, async (page) => {
      await question(page, 'May viewers answer?').waitFor();
      assert.equal(await radio(page, 'blue').isDisabled(), true);
      assert.equal(await button(page, 'Answer').isDisabled(), true);
      assert.equal(await button(page, 'Dismiss').isDisabled(), true);
      await page.getByText('Viewers can read only.').waitFor();
    });
    assert.equal((await read(uncertaintyId)).status, 'open');
  });

  it('says so when the deadline passes while the card is open', async () => {
    const page = await visit(person);
    const left = page.getByText(/^In \d:\d\d; then the assumed value applies$/);
    const passed = page.getByText('The deadline passed');
    let uncertaintyId = '';
    // A page that opens after the deadline shows no time left: the next question has longer.
    for (let leftMs = 5_000; uncertaintyId === ''; leftMs *= 2) {
      const asked = await ask({
        prompt: 'Who is first?',
        assumedValue: 'the deadline',
        onDeadline: 'assume',
        deadlineAt: new Date(Date.now() + leftMs).toISOString(),
      });
      await page.goto(pathOf(asked));
      await left.or(passed).first().waitFor();
      if (await left.isVisible()) uncertaintyId = asked;
    }
    await passed.waitFor();
    await page.getByRole('region', { name: 'Answer' }).getByText('the deadline').last().waitFor();
    assert.equal((await read(uncertaintyId)).resolution?.mode, 'assumed');
    await page.context().close();
  });

  it('does not lose an answer when the page closes at once', async () => {
    const uncertaintyId = await ask({ prompt: 'Closed at once?' });
    const page = await visit(person);
    await page.goto(pathOf(uncertaintyId));
    await radio(page, 'blue').check();
    await button(page, 'Answer “blue”').click();
    await page.close();
    const given = await waitFor(
      'the answer is handed over',
      () => read(uncertaintyId),
      (each) => each.status === 'resolved' && each.handOverAt === null,
    );
    assert.equal(given.resolution?.value, 'blue');
  });

  it('keeps the answer in the form while the hub cannot be reached, and sends it again once', async () => {
    const uncertaintyId = await ask({ prompt: 'Reached?' });
    const page = await visit(person);
    await page.goto(pathOf(uncertaintyId));
    await radio(page, 'red').check();
    const sent = '**/console-api/v1/uncertainties/add-resolution';
    let isAnswerLost = true;
    // The first answer reaches the hub, but its reply is lost.
    await page.route(sent, async (route) => {
      if (!isAnswerLost) return route.continue();
      isAnswerLost = false;
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.route('**/console-api/v1/uncertainties/get', (route) => route.abort());
    await button(page, 'Answer “red”').click();
    await page.getByText('UNREACHABLE').waitFor();
    assert.equal(await radio(page, 'red').isChecked(), true);
    await button(page, 'Answer “red”').click();
    await page.getByText('You answered').waitFor();
    assert.equal((await read(uncertaintyId)).resolutions.length, 1);
    await page.context().close();
  });

  it('causes no violation of the content security policy and no error of the browser', () => {
    const troubles = visits.flatMap((each) => each.troubles);
    const isOwnAbort = (text: string) => /ERR_FAILED|ERR_CONNECTION_RESET/.test(text);
    assert.deepEqual(
      troubles.filter((text) => !isOwnAbort(text)),
      [],
    );
  });
});
