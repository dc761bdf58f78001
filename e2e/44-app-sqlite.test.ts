import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { findFreePorts } from '@signalbox/local-postgres';
import { type Client, createClient } from '@signalbox/sdk';
import type { CDPSession, Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit, type VisitOptions } from './browser.ts';
import { configOf } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { auditSchemes } from './page-audit.ts';
import { usePagePlace } from './page-place.ts';
import { lendSession, makeOwner, owner, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const { browser } = usePagePlace({ after });

const phone: VisitOptions = {
  ...{ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
};
const settingsPath = `/w/${owner.workspaceSlug}/settings/notifications`;

/* The parts of a browser that the functions below touch in the page. */
declare const navigator: {
  serviceWorker: { register(url: string): Promise<void>; ready: Promise<object> };
};
declare const document: { activeElement: { textContent: string } | null };

/* What an app on a phone does; the test of Firefox receives real messages. */
describe('the console as an app, in Chromium', { skip: browserMissing }, () => {
  const folder = makeTempDir({ after });
  const dataDir = join(folder, 'data');
  let port: number | undefined;
  let hub: HubProcess;
  let ada: SignedIn;
  let client: Client;
  let visit: Visit;
  let page: Page;
  let devTools: CDPSession;
  let uncertaintyId: string;

  before(async () => {
    [port] = await findFreePorts(1);
    hub = await startHubProcess({ dataDir, port: Number(port) });
    ada = await makeOwner(hub);
    const { workspaceId } = ada;
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    const { token } = await mintTokenByAdmin(await configOf(dataDir), draft);
    client = createClient({ baseUrl: hub.baseUrl, token });
    const { repoId } = await client.repositories.upsert({
      ...{ workspaceId, remoteUrlHash: 'a'.repeat(64), label: 'api' },
    });
    const run = { workspaceId, repoId, runRef: 'feature-1', status: 'in_progress' };
    const { runId } = await client.runs.upsertV1(run);
    ({ uncertaintyId } = await client.uncertainties.createWithAutoPromotion({
      ...{ workspaceId, runId, kind: 'choice', prompt: 'Which port?', confidence: 0.2 },
      options: ['8080', '9443'].map((value) => ({ value, label: value })),
      recommendedValue: '9443',
    }));
    visit = await openVisit(browser, hub.baseUrl, phone);
    await lendSession(visit.context, ada);
    page = await visit.context.newPage();
    devTools = await visit.context.newCDPSession(page);
  });
  after(async () => {
    await visit?.context.close();
    await hub?.stop();
  });

  const look = (view: string) => auditSchemes(page, `app-${view}-360`);

  it('says why a browser cannot notify, and what to do', async () => {
    await page.goto(settingsPath);
    await page.getByRole('button', { name: 'Notify me on this device' }).tap();
    await page.getByText('This browser blocks notifications of this address.').waitFor();
    assert.deepEqual(await look('blocked'), []);
  });

  it('can be installed, and shows what waits on its icon', async () => {
    const { errors, data } = await devTools.send('Page.getAppManifest');
    assert.deepEqual(errors, []);
    assert.equal(JSON.parse(data ?? '{}').name, 'Signalbox');
    const faults = await devTools.send('Page.getInstallabilityErrors');
    // A profile without a name is incognito, where nothing is installed.
    const known = ['in-incognito'];
    const ids = faults.installabilityErrors.map(({ errorId }) => errorId);
    assert.deepEqual(
      ids.filter((id) => !known.includes(id)),
      [],
    );
    const counts: number[] = [];
    const app = await visit.context.newPage();
    await app.exposeFunction('badged', (count: number) => void counts.push(count));
    await app.addInitScript('navigator.setAppBadge = (count) => badged(count)');
    await app.goto(settingsPath);
    await app.getByRole('link', { name: 'Inbox' }).first().waitFor();
    await app.getByText('1 open').first().waitFor({ state: 'attached' });
    assert.deepEqual(counts, [1]);
    await app.close();
  });

  it('leads from the button of a message to the answer, which one touch sends', async () => {
    const started = visit.context.waitForEvent('serviceworker');
    await page.evaluate(() => navigator.serviceWorker.register('/service-worker.js'));
    const worker = await started;
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    const navigate = `${hub.baseUrl}/w/${owner.workspaceSlug}/inbox/${uncertaintyId}`;
    const message = {
      web_push: 8030,
      notification: {
        ...{ title: 'A job asks you', body: '“Which port?”', navigate, tag: 'ntf_1', lang: 'en' },
        actions: [
          { action: 'answer', title: 'Choose “9443”', navigate: `${navigate}#answer` },
          { action: 'open', title: 'Open', navigate },
        ],
      },
      app_badge: 1,
    };
    const opened = await worker.evaluate(pressAnswer, message);
    assert.equal(opened, `${navigate}#answer`);
    await page.goto(opened);
    const answer = page.getByRole('button', { name: 'Answer “9443”' });
    await answer.waitFor();
    const focused = await page.evaluate(() => document.activeElement?.textContent ?? '');
    assert.match(focused, /^Answer “9443”/);
    assert.ok(await page.getByRole('radio', { name: '9443' }).isChecked());
    assert.deepEqual(await look('answer'), []);
    await answer.tap();
    await page.getByText('You answered').waitFor();
  });

  it('opens while the hub is out of reach, and says so', async () => {
    await page.goto(settingsPath);
    await page.getByRole('heading', { name: 'Notifications' }).waitFor();
    assert.deepEqual(visit.troubles, []);
    await hub.stop();
    await page.goto(`${hub.baseUrl}/w/${owner.workspaceSlug}/jobs`);
    await page.getByRole('heading', { name: 'The hub is out of reach' }).waitFor();
    assert.deepEqual(await look('offline'), []);
    assert.equal(await page.evaluate('caches.keys().then((names) => names.length)'), 0);
    hub = await startHubProcess({ dataDir, port: Number(port) });
    await page.getByRole('link', { name: 'Try again' }).tap();
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
  });
});

/**
 * Runs in the worker: has it show a message, and presses the first button. The headless Chromium
 * of tests has no notifications, and no program could press a button of one: the worker gets the
 * events that a browser sends. The test in Firefox sees that a browser shows the message.
 *
 * @returns the address that the worker opens.
 */
async function pressAnswer(message: object): Promise<string> {
  // The part of a worker that Node's types do not have.
  const scope = globalThis as unknown as WorkerScope;
  const happen = (type: string, parts: object) => {
    const work: Promise<unknown>[] = [];
    const waitUntil = { value: (promise: Promise<unknown>) => void work.push(promise) };
    const event = Object.assign(new Event(type), parts);
    scope.dispatchEvent(Object.defineProperty(event, 'waitUntil', waitUntil));
    return Promise.all(work);
  };
  const shown = Promise.withResolvers<{ data: object; actions: { action: string }[] }>();
  const opened = Promise.withResolvers<string>();
  // There is no icon for it: this Chromium ends with a worker that sets one.
  scope.navigator.setAppBadge = async () => {};
  scope.registration.showNotification = async (_title, options) => shown.resolve(options);
  scope.clients.openWindow = async (url) => opened.resolve(url);
  await happen('push', { data: { json: () => message } });
  const { data, actions } = await shown.promise;
  const notification = { data, close() {} };
  await happen('notificationclick', { notification, action: actions[0]?.action });
  return await opened.promise;
}

interface WorkerScope {
  registration: {
    showNotification(
      title: string,
      options: { data: object; actions: { action: string }[] },
    ): Promise<void>;
  };
  navigator: { setAppBadge(count: number): Promise<void> };
  clients: { openWindow(url: string): Promise<void> };
  dispatchEvent(event: Event): void;
}
