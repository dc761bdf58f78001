import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ReviewComment } from '@signalbox/contract';
import type { Browser, Page } from 'playwright-core';
import { browserMissing, launchBrowser, openVisit, type Visit } from '../browser.ts';
import { git } from '../git-clone.ts';
import { callConsole, joinWorkspace, lendSession, owner, type SignedIn } from '../person.ts';
import {
  buttonOf,
  desktop,
  phone,
  pressByKey,
  tabTo,
  untilFocused,
  untilWork,
} from '../reviewer.ts';
import { type AcpBench, acpTools, startAcpBench } from './acp-bench.ts';
import { toolMissing } from './install-tool.ts';
import { native, say, shell, type Turn, write } from './turns.ts';

const answer = (number: number, word: 'changed' | 'disagree', note: string) =>
  native('mcp__signalbox__answer_comment', { number, word, note });

/** A busy machine takes its time to land. */
const LANDING_MS_MAX = 120_000;

/*
 * One piece of work from the job to the landed change, only at the console: Ada works by keyboard
 * in a wide window, Grace by touches on a phone. The tool is the real Claude Code.
 */
describe('three rounds by two reviewers, from a job to the landed change', {
  skip: browserMissing || toolMissing(...acpTools.claude),
}, () => {
  let acp: AcpBench;
  let browser: Browser;
  let ada: Page;
  let grace: Page;
  let visits: Visit[];
  let jobId: string;

  before(async () => {
    const rules = ['allow execute sed *'];
    acp = await startAcpBench('claude', rules, { share: { changes: 'patch' } });
    const { person } = acp.bench;
    browser = await launchBrowser();
    const second = await joinWorkspace(person, 'Grace Hopper', 'member');
    const first = await open(desktop, person);
    const other = await open(phone, second);
    visits = [first.visit, other.visit];
    [ada, grace] = [first.page, other.page];
  });
  after(async () => {
    await browser?.close();
    await acp?.close();
  });

  async function open(size: typeof desktop, person: SignedIn) {
    const visit = await openVisit(browser, acp.bench.hub.baseUrl, size);
    await lendSession(visit.context, person);
    return { visit, page: await visit.context.newPage() };
  }

  const script = (...turns: Turn[]) => acp.bench.model.script({ rounds: turns });
  const pathOf = (id: string) => `/w/${owner.workspaceSlug}/jobs/${id}?tab=changes`;
  const threadOn = (page: Page, line: number) =>
    page.getByRole('region', { name: `Comment on list.txt, line ${line}`, exact: true });
  const lineOf = (page: Page, line: number) =>
    page.getByRole('button', { name: new RegExp(`^Comment on line ${line}, added`) });

  async function goToFirstLine(page: Page): Promise<void> {
    await page.keyboard.press('j');
    await untilFocused(buttonOf(page, 'list.txt new'));
    await page.keyboard.press('n');
    await untilFocused(lineOf(page, 1));
  }

  /** A page shows the end of a round without being loaded again. */
  const untilReviewed = (page: Page) => page.getByText(/of 1 file viewed/).waitFor();

  async function listComments(): Promise<ReviewComment[]> {
    const { hub, person } = acp.bench;
    const { workspaceId, cookie } = person;
    const body = { workspaceId, jobId };
    const { answer } = await callConsole(hub.baseUrl, 'review-comments/list', body, cookie);
    return answer.comments as ReviewComment[];
  }

  async function fates() {
    const comments = await listComments();
    return comments.map(({ number, answer, fate }) => [number, answer?.word, fate?.state]);
  }

  /** Waits for the end of the round that a page has started, and moved to. */
  async function untilRound(page: Page): Promise<void> {
    await page.waitForURL((url) => !url.pathname.endsWith(jobId));
    jobId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await untilDone();
  }

  async function untilDone(): Promise<void> {
    const { job, log } = await acp.end(jobId);
    assert.equal(job.status, 'done', `${log}\n${acp.bench.model.unexpected.join('\n')}`);
  }

  const contentOf = (rev: string) => git(acp.bench.clone, 'show', `${rev}:list.txt`);

  it('round 1: the tool writes a file, and both reviewers see its lines', async () => {
    script(write('list.txt', 'one\ntwo\nthree\nfour\nfive\n'), say('Written.'));
    jobId = await acp.bench.enqueue('Write a list.\n\n[scenario rounds]');
    await untilDone();
    for (const page of [ada, grace]) {
      await page.goto(pathOf(jobId));
      await untilReviewed(page);
      await untilWork(page, 'In review');
    }
  });

  it('two comments by keyboard and one by touch are sent from the phone', async () => {
    await goToFirstLine(ada);
    const form = ada.getByRole('form', { name: 'New comment' });
    for (const line of [1, 3]) {
      if (line === 3) {
        await untilFocused(lineOf(ada, 1));
        await ada.keyboard.press('ArrowDown');
        await ada.keyboard.press('ArrowDown');
      }
      await ada.keyboard.press('c');
      await form.getByText(`Comment on line ${line} of`).waitFor();
      await ada.keyboard.type('In capitals, please.');
      await ada.keyboard.press('Control+Enter');
      await threadOn(ada, line).getByText('Draft', { exact: true }).waitFor();
      await form.waitFor({ state: 'detached' });
    }
    await threadOn(grace, 3).getByText('In capitals, please.').waitFor();
    await lineOf(grace, 5).tap();
    const touched = grace.getByRole('form', { name: 'New comment' });
    await touched.getByRole('textbox').fill('This one, too.');
    await buttonOf(touched, 'Save draft').tap();
    script(
      shell("sed -i -e 's/one/ONE/' -e 's/three/THREE/' list.txt"),
      answer(1, 'changed', 'It is ONE.'),
      answer(2, 'changed', 'It is THREE.'),
      answer(3, 'disagree', 'Five is the name of a day.'),
      say('Two are changed.'),
    );
    await buttonOf(grace, 'Send 3 comments').tap();
    await buttonOf(grace, 'Start the round').tap();
    await untilRound(grace);
    await grace.getByRole('tab', { name: 'Changes' }).tap();
    await untilReviewed(grace);
    await threadOn(grace, 5).getByText('The tool disagrees').waitFor();
    await threadOn(grace, 5).getByText('Git: lines untouched').waitFor();
    await threadOn(grace, 1).getByText('Git: lines changed').waitFor();
    assert.deepEqual(await fates(), [
      [1, 'changed', 'changed'],
      [2, 'changed', 'changed'],
      [3, 'disagree', 'untouched'],
    ]);
  });

  it('a reply by touch and a comment by key are sent by keyboard', async () => {
    await buttonOf(threadOn(grace, 5), 'Reply').tap();
    const reply = grace.getByRole('form', { name: 'New comment' });
    await reply.getByRole('textbox').fill('It is no day here.');
    await buttonOf(reply, 'Save draft').tap();
    await reply.waitFor({ state: 'detached' });
    await pressByKey(ada.getByRole('link', { name: 'sent in round 2' }).first());
    await ada.getByRole('heading', { level: 1, name: '3 review comments' }).waitFor();
    await untilReviewed(ada);
    await threadOn(ada, 5).getByText('It is no day here.').waitFor();
    await goToFirstLine(ada);
    await ada.keyboard.press('ArrowDown');
    await ada.keyboard.press('c');
    await ada.keyboard.type('Now this line.');
    await ada.keyboard.press('Control+Enter');
    await threadOn(ada, 2).getByText('Draft', { exact: true }).waitFor();
    script(
      shell("sed -i -e 's/two/TWO/' -e 's/five/FIVE/' list.txt"),
      // A reply has a number, too.
      answer(4, 'changed', 'It is FIVE.'),
      answer(5, 'changed', 'It is TWO.'),
      say('The rest is changed.'),
    );
    await pressByKey(buttonOf(ada, 'Send 2 comments'));
    await pressByKey(buttonOf(ada, 'Start the round'));
    await untilRound(ada);
    await tabTo(ada.getByRole('tab', { name: 'Overview' }));
    await ada.keyboard.press('ArrowRight');
    await ada.keyboard.press('ArrowRight');
    await pressByKey(ada.getByRole('tab', { name: 'Changes' }));
    await untilReviewed(ada);
    await threadOn(ada, 2).getByText('Git: lines changed').waitFor();
    assert.deepEqual(await fates(), [
      [1, 'changed', 'changed'],
      [2, 'changed', 'changed'],
      [3, 'disagree', 'changed'],
      [4, 'changed', undefined],
      [5, 'changed', 'changed'],
    ]);
  });

  it('both resolve their threads, one approves on the phone, the other lands by keyboard', async () => {
    await grace.goto(pathOf(jobId));
    await grace.getByText('4 review comments are not resolved.').waitFor();
    for (const line of [5, 1]) {
      await buttonOf(threadOn(grace, line), 'Resolve').tap();
      await threadOn(grace, line).getByText('Resolved by Grace Hopper').waitFor();
    }
    for (const line of [2, 3]) {
      await pressByKey(buttonOf(threadOn(ada, line), 'Resolve'));
      await threadOn(ada, line).getByText('Resolved by Ada Lovelace').waitFor();
    }
    await grace.getByText(/not resolved/).waitFor({ state: 'detached' });
    await buttonOf(grace, 'Approve').tap();
    await untilWork(grace, 'Approved');
    await untilWork(ada, 'Approved');
    const { clone, model } = acp.bench;
    const calls = model.requests.length;
    const base = git(clone, 'symbolic-ref', '--short', 'HEAD');
    await ada.keyboard.press('l');
    await ada.getByRole('alertdialog').getByText('Land the approved commit?').waitFor();
    await pressByKey(buttonOf(ada.getByRole('alertdialog'), 'Land'));
    for (const page of [ada, grace]) {
      await page.getByText(/^Landed in /).waitFor({ timeout: LANDING_MS_MAX });
      await untilWork(page, 'Landed');
    }
    assert.equal(contentOf(base), 'ONE\nTWO\nTHREE\nfour\nFIVE');
    assert.equal(model.requests.length, calls, 'a landing starts no tool');
    acp.bench.checkRequests();
  });

  it('the list has the work no more, and no page had an error', async () => {
    await grace.goto(`/w/${owner.workspaceSlug}/jobs`);
    await grace.getByRole('button', { name: 'Landed and closed' }).waitFor();
    await grace.getByText('All work has landed or was closed.').waitFor();
    assert.deepEqual(
      visits.flatMap(({ troubles }) => troubles),
      [],
    );
  });
});
