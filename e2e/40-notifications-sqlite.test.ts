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
import { lendSession, makeOwner, owner, type SignedIn } from './person.ts';
import { SlackServer } from './slack-server.ts';
import { makeTempDir } from './temp-dir.ts';

const { browser } = usePagePlace({ after });

const phone: VisitOptions = {
  viewport: { width: 360, height: 740 },
  isMobile: true,
  hasTouch: true,
};
const settingsPath = `/w/${owner.workspaceSlug}/settings/notifications`;

/* A person adds a channel, a job asks, and the link of the message leads to the answer. */
describe('notifications, in a browser', { skip: browserMissing }, () => {
  const folder = makeTempDir({ after });
  let receiver: Awaited<ReturnType<typeof startNtfy>>;
  let slack: SlackServer;
  let hub: HubProcess;
  let ada: SignedIn;
  let client: Client;
  let visit: Visit;
  let page: Page;
  let runId: string;

  before(async () => {
    receiver = await startNtfy();
    const dataDir = join(folder, 'data');
    const mail = {
      // Nothing listens there; the tests of the hub deliver to a real server.
      SVC_SMTP_URL: 'smtp://127.0.0.1:9',
      SVC_MAIL_FROM: 'signalbox@acme.dev',
    };
    slack = await SlackServer.start();
    const env = { ...mail, ...slack.env, SVC_ALLOW_PRIVATE_HOSTS: '127.0.0.1' };
    hub = await startHubProcess({ dataDir, env });
    ada = await makeOwner(hub);
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    const { token } = await mintTokenByAdmin(await configOf(dataDir), draft);
    client = createClient({ baseUrl: hub.baseUrl, token });
    const { workspaceId } = ada;
    const { repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'a'.repeat(64),
      label: 'api',
    });
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
    slack?.close();
  });

  const look = (view: string) => auditWidths(page, `notifications-${view}`);

  it('adds a topic of ntfy, and tries it', async () => {
    await page.goto(settingsPath);
    await page.getByRole('heading', { name: 'No channels yet' }).waitFor();
    assert.deepEqual(await look('empty'), []);
    await page.getByRole('button', { name: 'Add a channel' }).tap();
    await page.getByLabel('Name').fill('Phone');
    await page.getByLabel('Address of the topic').fill('no address');
    await page.getByRole('button', { name: 'Add the channel' }).tap();
    await page.getByText('Enter an address with https://.').waitFor();
    await page.getByLabel('Address of the topic').fill(`${receiver.url}/ada-4711`);
    assert.deepEqual(await look('form'), []);
    await page.getByRole('button', { name: 'Add the channel' }).tap();
    await page.getByRole('list', { name: 'Channels' }).getByText('Phone').waitFor();
    await page.getByRole('button', { name: 'Test Phone' }).tap();
    await page.getByText('Phone took the message').waitFor();
    assert.equal(receiver.messages[0]?.title, 'Signalbox reaches you');
  });

  it('answers a question from the link of its message in two touches', async () => {
    const asked = await client.uncertainties.createWithAutoPromotion({
      workspaceId: ada.workspaceId,
      runId,
      prompt: 'Which port?',
      kind: 'choice',
      options: ['8080', '9443'].map((value) => ({ value, label: value })),
      confidence: 0.2,
    });
    const message = await receiver.next(2);
    assert.equal(message.message, '“Which port?”');
    await page.goto(message.click);
    await page.getByRole('radio', { name: '9443', exact: true }).tap();
    await page.getByRole('button', { name: 'Answer “9443”' }).tap();
    await page.getByText('You answered').waitFor();
    await page.getByText('Who was told').tap();
    await page.getByText('by Phone: sent').waitFor();
    assert.deepEqual(await look('told'), []);
    assert.ok(asked.promoted);
  });

  it('adds mail to the address of the account, and says why it does not arrive', async () => {
    await page.goto(settingsPath);
    await page.getByRole('button', { name: 'Add a channel' }).tap();
    await page.getByLabel('Kind').selectOption('mail');
    await page.getByLabel('Name').fill('Office');
    await page.getByText(owner.email).first().waitFor();
    assert.equal(await page.getByLabel('Address of the topic').count(), 0);
    assert.deepEqual(await look('mail'), []);
    await page.getByRole('button', { name: 'Add the channel' }).tap();
    const channels = page.getByRole('list', { name: 'Channels' });
    await channels.getByText(`Mail to ${owner.email}`).waitFor();
    await page.getByRole('button', { name: 'Test Office' }).tap();
    await page.getByText('No connection to the mail server: ECONNREFUSED.').waitFor();
    assert.deepEqual(await look('mail-added'), []);
    await page.getByRole('button', { name: 'Remove Office' }).tap();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).tap();
    await channels.getByText('Office').waitFor({ state: 'detached' });
  });

  it('lists the messages of a channel, and sends one again while its question is open', async () => {
    await client.uncertainties.createWithAutoPromotion({
      workspaceId: ada.workspaceId,
      runId,
      prompt: 'How many?',
      kind: 'missing_fact',
      confidence: 0.2,
    });
    await receiver.next(3);
    await page.goto(settingsPath);
    await page.getByRole('button', { name: 'Messages by Phone' }).tap();
    const messages = page.getByRole('dialog', { name: 'Messages by Phone' });
    await messages.getByText('A job asks you: “How many?”').waitFor();
    assert.deepEqual(await look('messages'), []);
    await messages.getByRole('button', { name: 'Send again: “How many?”' }).tap();
    const { message } = await receiver.next(4);
    assert.equal(message, '“How many?”');
    await page.getByText('The message was accepted').waitFor();
    await messages.getByRole('button', { name: 'Send again: “Which port?”' }).tap();
    await page.getByText('Its question is not open any more.').waitFor();
    await messages.getByRole('button', { name: 'Close' }).tap();
  });

  it('connects an account of Slack by a code', async () => {
    await page.goto(settingsPath);
    await page.getByRole('button', { name: 'Connect Slack' }).tap();
    const command = page.getByText('/signalbox connect ');
    const words = ((await command.textContent()) ?? '').replace('/signalbox ', '');
    // The bar at the top would lie over a part of the links.
    await page.evaluate('scrollTo(0, 0)');
    assert.deepEqual(await look('slack'), []);
    await slack.until(() => slack.connections === 1);
    const { payload } = await slack.deliver('slash_commands', slack.command('U0ADA', words));
    assert.match(String(payload.text), /^Connected: you are Ada Lovelace/);
    await page.getByRole('button', { name: 'I have copied it' }).tap();
    await page.getByText('Slack, to u0ada in acme').waitFor();
    await page.getByRole('button', { name: 'Test Slack' }).tap();
    await page.getByText('Slack took the message').waitFor();
    assert.ok(await slack.message('U0ADA', 'Signalbox reaches you'));
    await page.getByRole('button', { name: 'Remove Slack' }).tap();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).tap();
    await page.getByText('Slack, to u0ada in acme').waitFor({ state: 'detached' });
  });

  it('keeps quiet hours in the time zone of the browser, and ends them', async () => {
    await page.goto(settingsPath);
    await page.getByLabel('Until').fill('06:30');
    await page.getByRole('button', { name: 'Save the quiet hours' }).tap();
    await page.getByText('From 22:00 until 06:30, ').waitFor();
    // The bar at the top would lie over a part of the links.
    await page.evaluate('scrollTo(0, 0)');
    assert.deepEqual(await look('quiet'), []);
    await page.getByRole('button', { name: 'End them' }).tap();
    await page.getByText('None now.').waitFor();
  });

  it('says that no one was told, and how to change that', async () => {
    await page.goto(settingsPath);
    await page.getByRole('button', { name: 'Remove Phone' }).tap();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).tap();
    await page.getByRole('heading', { name: 'No channels yet' }).waitFor();
    const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion({
      workspaceId: ada.workspaceId,
      runId,
      prompt: 'Which host?',
      kind: 'missing_fact',
      confidence: 0.2,
    });
    await page.goto(`/w/${owner.workspaceSlug}/inbox/${uncertaintyId}`);
    await page.getByText('Who was told').tap();
    await page.getByRole('link', { name: 'Add your channel' }).tap();
    await page.getByRole('heading', { name: 'No channels yet' }).waitFor();
    assert.equal(receiver.messages.length, 4);
    assert.deepEqual(visit.troubles, []);
  });
});
