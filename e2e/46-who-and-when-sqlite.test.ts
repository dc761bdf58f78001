import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit, type VisitOptions } from './browser.ts';
import { configOf } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { startNtfy } from './ntfy-receiver.ts';
import { auditWidths } from './page-audit.ts';
import { usePagePlace } from './page-place.ts';
import {
  callConsole,
  joinWorkspace,
  lendSession,
  makeOwner,
  owner,
  type SignedIn,
} from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const { browser } = usePagePlace({ after });

const phone: VisitOptions = {
  viewport: { width: 360, height: 740 },
  isMobile: true,
  hasTouch: true,
};
const home = `/w/${owner.workspaceSlug}`;

/* Who is told of a question, when, and who is not, as people choose it at the console. */
describe('who is told, and when, in a browser', { skip: browserMissing }, () => {
  const folder = makeTempDir({ after });
  let receiver: Awaited<ReturnType<typeof startNtfy>>;
  let hub: HubProcess;
  let ada: SignedIn;
  let grace: SignedIn;
  let client: Client;
  let visit: Visit;
  let page: Page;
  let repoId: string;
  let runId: string;

  before(async () => {
    receiver = await startNtfy();
    const dataDir = join(folder, 'data');
    hub = await startHubProcess({ dataDir, env: { SVC_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } });
    ada = await makeOwner(hub);
    grace = await joinWorkspace(ada, 'Grace Hopper', 'member');
    for (const [topic, person] of Object.entries({ ada, grace })) await addTopic(topic, person);
    const { token } = await mintTokenByAdmin(await configOf(dataDir), {
      workspaceSlug: owner.workspaceSlug,
      name: 'robot',
      scopes: ['enqueue', 'read', 'agent', 'decide'],
    });
    client = createClient({ baseUrl: hub.baseUrl, token });
    const { workspaceId } = ada;
    ({ repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'a'.repeat(64),
      label: 'api',
    }));
    ({ runId } = await client.runs.upsertV1({
      workspaceId,
      repoId,
      runRef: 'feature-1',
      status: 'in_progress',
    }));
    visit = await openVisit(browser, hub.baseUrl, phone);
    await lendSession(visit.context, ada);
    page = await visit.context.newPage();
  });
  after(async () => {
    await visit?.context.close();
    await hub?.stop();
    receiver?.server.close();
  });

  async function addTopic(topic: string, { cookie, workspaceId }: SignedIn): Promise<void> {
    const channel = { kind: 'ntfy', name: 'Phone', url: `${receiver.url}/${topic}` };
    const choices = { showsText: true, events: ['decision'] };
    const put = { workspaceId, ...channel, ...choices };
    await callConsole(hub.baseUrl, 'notification-channels/put', put, cookie);
  }

  async function ask(prompt: string, more: object = {}): Promise<string> {
    const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion({
      workspaceId: ada.workspaceId,
      runId,
      prompt,
      kind: 'choice',
      confidence: 0.2,
      ...more,
    });
    return uncertaintyId;
  }

  async function look(view: string): Promise<string[]> {
    // The bar at the top would lie over a part of the links.
    await page.evaluate('scrollTo(0, 0)');
    return await auditWidths(page, `who-${view}`);
  }

  it('sets the order in which persons are told of the questions of a repository', async () => {
    await page.goto(`${home}/repositories/${repoId}`);
    await page.getByText('If that person has no channel, every member with one.').waitFor();
    await page.getByRole('button', { name: 'Change the order' }).tap();
    await page.getByLabel('First').selectOption('Grace Hopper');
    await page.getByRole('button', { name: 'Add a person' }).tap();
    await page.getByLabel('Then (2)').selectOption('Ada Lovelace');
    await page.getByLabel('Minutes until the next person').fill('0');
    await page.getByText('Enter whole minutes from 1 to 720.').waitFor();
    await page.getByLabel('Minutes until the next person').fill('5');
    assert.deepEqual(await look('order-form'), []);
    await page.getByRole('button', { name: 'Save the order' }).tap();
    const order = page.getByRole('list', { name: 'Order' });
    await order.waitFor();
    assert.deepEqual(await order.getByRole('listitem').allInnerTexts(), [
      'Grace Hopper',
      'Ada Lovelace',
    ]);
    await page.getByText('The next one after 5 minutes without an answer.').waitFor();
    assert.deepEqual(await look('order'), []);
    const asked = await ask('Which port?');
    const { topic, message } = await receiver.next(1);
    assert.deepEqual([topic, message], ['grace', '“Which port?”']);
    await page.goto(`${home}/inbox/${asked}`);
    await page.getByText('Who was told').tap();
    await page.getByText(/is told in [45] min.*, unless it is answered/).waitFor();
    assert.deepEqual(await look('next'), []);
  });

  it('sets another order for a single run', async () => {
    await page.goto(`${home}/runs/${runId}`);
    await page.getByText('As its repository says.').waitFor();
    await page.getByRole('button', { name: 'Change the order' }).tap();
    await page.getByLabel('First').selectOption('Ada Lovelace');
    await page.getByRole('button', { name: 'Save the order' }).tap();
    const order = page.getByRole('list', { name: 'Order' });
    await order.waitFor();
    assert.deepEqual(await order.getByRole('listitem').allInnerTexts(), ['Ada Lovelace']);
    assert.deepEqual(await look('run-order'), []);
    await page.getByRole('button', { name: 'Change the order' }).tap();
    await page.getByRole('button', { name: 'Use the default' }).tap();
    await page.getByText('As its repository says.').waitFor();
  });

  it('passes over a person who is out of office, and members see it', async () => {
    await page.goto(`${home}/settings/notifications`);
    await page.getByLabel('Back on').fill('2020-02-02');
    await page.getByRole('button', { name: 'Save the day' }).tap();
    await page.getByText('Enter a day in the future.').waitFor();
    await page.getByLabel('Back on').fill(dayAfter(3));
    await page.getByRole('button', { name: 'Save the day' }).tap();
    await page.getByText(/Out of office until .*20/).waitFor();
    assert.deepEqual(await look('absence'), []);
    await page.goto(`${home}/settings/members`);
    await page.getByText('out of office until').waitFor();
    assert.deepEqual(await look('members'), []);
    const asked = await ask('Which host?');
    assert.equal((await receiver.next(2)).topic, 'grace');
    await page.goto(`${home}/inbox/${asked}`);
    await page.getByText('Who was told').tap();
    await page.getByText(/passed over\. Out of office until/).waitFor();
    assert.deepEqual(await look('passed-over'), []);
    await page.goto(`${home}/settings/notifications`);
    await page.getByRole('button', { name: 'I am back' }).tap();
    await page.getByText('You are told of questions now.').waitFor();
  });

  it('chooses the questions of a channel, and how often those of low risk come', async () => {
    await page.goto(`${home}/settings/notifications`);
    await page.getByRole('button', { name: 'Change Phone' }).tap();
    await page.getByLabel('Questions', { exact: true }).selectOption('Approvals and risks');
    await page.getByLabel('They come').selectOption('After 2 min, if still open');
    assert.deepEqual(await look('channel'), []);
    await page.getByRole('button', { name: 'Save', exact: true }).tap();
    await page.getByText('approvals and risks only').waitFor();
    await page.getByText('after 2 min').waitFor();
    await page.getByLabel('Tell me', { exact: true }).selectOption('Together, every 4 hours');
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.reload();
    const often = page.getByLabel('Tell me', { exact: true });
    await often.waitFor();
    assert.equal(await often.inputValue(), '4');
    await page.getByText('Saved', { exact: true }).waitFor({ state: 'detached' });
    assert.deepEqual(await look('digest'), []);
  });

  it('tells of no question that the page shows', async () => {
    const { workspaceId, cookie } = ada;
    const { uncertainties } = await client.uncertainties.list({ workspaceId, status: 'open' });
    for (const { uncertaintyId } of uncertainties) await dismiss(uncertaintyId);
    await page.goto(`${home}/repositories/${repoId}`);
    await page.getByRole('button', { name: 'Change the order' }).tap();
    await page.getByRole('button', { name: 'Use the default' }).tap();
    await page.getByText('If that person has no channel, every member with one.').waitFor();
    const channels = await callConsole(
      hub.baseUrl,
      ...(['notification-channels/list', { workspaceId }, cookie] as const),
    );
    const [{ channelId }] = channels.answer.channels as [{ channelId: string }];
    const choices = { kind: 'ntfy', name: 'Phone', showsText: true, events: ['decision'] };
    const put = { workspaceId, channelId, ...choices };
    await callConsole(hub.baseUrl, 'notification-channels/put', put, cookie);
    // In a wide window the first question is open beside the list.
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${home}/inbox`);
    await page.getByRole('heading', { name: 'No open questions' }).waitFor();
    const seen = page.getByText(/Ada Lovelace by Phone: not sent, because a page showed it/);
    const sent = page.getByText(/Ada Lovelace by Phone: sent/);
    // On a busy machine the page may be late for its second.
    for (let attempt = 1; ; attempt++) {
      const asked = await ask(`Shown ${attempt}?`);
      await page.getByRole('heading', { name: `Shown ${attempt}?` }).waitFor();
      await page.getByText('Who was told').click();
      await seen.or(sent).waitFor();
      if ((await seen.count()) > 0) break;
      assert.ok(attempt < 5, 'one of five questions is seen in time');
      await dismiss(asked);
      await page.goto(`${home}/inbox`);
      await page.getByRole('heading', { name: 'No open questions' }).waitFor();
    }
    await page.setViewportSize({ width: 360, height: 740 });
    assert.deepEqual(await look('seen'), []);
    assert.deepEqual(visit.troubles, []);
  });

  async function dismiss(uncertaintyId: string): Promise<void> {
    await client.uncertainties.addResolution({
      workspaceId: ada.workspaceId,
      uncertaintyId,
      mode: 'dismissed',
      value: '',
      confidence: 1,
    });
  }
});

/** A day of this number of days from now, as a field of a form takes it. */
function dayAfter(days: number): string {
  return new Date(Date.now() + days * 24 * 60 * 60_000).toISOString().slice(0, 10);
}
