import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { mintTokenByAdmin } from '@signalbox/hub';
import { findFreePorts } from '@signalbox/local-postgres';
import { type Client, createClient } from '@signalbox/sdk';
import type { CDPSession, Page } from 'playwright-core';
import type { StartedProcess } from '../scripts/process/start-process.ts';
import { browserMissing, openVisit, type Visit, type VisitOptions } from './browser.ts';
import { createMachine, logIn, runJson } from './cli-process.ts';
import { makeClone } from './git-clone.ts';
import { configOf } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { projectRoot } from './node-process.ts';
import { auditSchemes } from './page-audit.ts';
import { usePagePlace } from './page-place.ts';
import { callConsole, lendSession, makeOwner, owner, type SignedIn } from './person.ts';
import { startPushSubscription } from './push-subscription.ts';
import { makeTempDir } from './temp-dir.ts';

const { browser } = usePagePlace({ after });

const phone: VisitOptions = {
  viewport: { width: 360, height: 740 },
  isMobile: true,
  hasTouch: true,
};
/** Two touches from a locked screen, which a person needs no training for. */
const LOCK_SCREEN_TO_RUNNING_MS_MAX = 10_000;
const LOOK_MS = 50;
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
  const clone = join(folder, 'clone');
  const machine = createMachine(join(folder, 'machine'));
  let port: number | undefined;
  let hub: HubProcess;
  let ada: SignedIn;
  let client: Client;
  let visit: Visit;
  let page: Page;
  let devTools: CDPSession;
  let subscription: Awaited<ReturnType<typeof startPushSubscription>>;
  let agent: StartedProcess;
  const endFile = join(folder, 'end');

  before(async () => {
    [port] = await findFreePorts(1);
    const env = { SVC_ALLOW_PRIVATE_HOSTS: '127.0.0.1' };
    hub = await startHubProcess({ dataDir, port: Number(port), env });
    ada = await makeOwner(hub);
    const { workspaceId, cookie } = ada;
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    const { token } = await mintTokenByAdmin(await configOf(dataDir), draft);
    client = createClient({ baseUrl: hub.baseUrl, token });
    const { repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'a'.repeat(64),
      label: 'api',
    });
    const run = { workspaceId, repoId, runRef: 'feature-1', status: 'in_progress' };
    const { runId } = await client.runs.upsertV1(run);
    await client.uncertainties.createWithAutoPromotion({
      workspaceId,
      runId,
      kind: 'choice',
      prompt: 'Which host?',
      confidence: 0.2,
    });
    subscription = await startPushSubscription();
    const { url, keys } = subscription;
    const channel = { kind: 'push', name: 'Phone', showsText: true, url, keys };
    const put = { workspaceId, ...channel, events: ['decision'] };
    await callConsole(hub.baseUrl, 'notification-channels/put', put, cookie);
    agent = await startAgent();
    visit = await openVisit(browser, hub.baseUrl, phone);
    await lendSession(visit.context, ada);
    page = await visit.context.newPage();
    devTools = await visit.context.newCDPSession(page);
  });
  after(async () => {
    await visit?.context.close();
    agent?.child.kill('SIGTERM');
    await agent?.ended;
    await hub?.stop();
    subscription?.server.close();
  });

  /** An agent whose tool asks for a port, with the clone that jobs are for. */
  async function startAgent(): Promise<StartedProcess> {
    makeClone(clone, 'git@git.acme.example:acme/api.git');
    await logIn(machine, ada, owner.workspaceSlug);
    await runJson(machine, ['repo', 'link', clone]);
    const tool = `'${process.execPath}' '${join(projectRoot, 'e2e/asking-tool.ts')}' '${endFile}'`;
    const started = machine.start(['agent', 'start', '--json', '--tool', tool]);
    await started.waitFor(/"type":"online"/);
    return started;
  }

  async function enqueue(): Promise<string> {
    const line = ['enqueue', 'Add a health check.'];
    return (await runJson<{ jobId: string }>(machine, line, clone)).jobId;
  }

  async function untilStatus(jobId: string, status: string): Promise<void> {
    const { workspaceId } = ada;
    for (;;) {
      const { job } = await client.jobs.get({ workspaceId, jobId });
      if (job.status === status) return;
      assert.ok(!['failed', 'canceled'].includes(job.status), JSON.stringify(job));
      await delay(LOOK_MS);
    }
  }

  /** When the question was asked that a message leads to. */
  async function readAskedMs(navigate: string): Promise<number> {
    const { workspaceId } = ada;
    const uncertaintyId = new URL(navigate).pathname.split('/').at(-1) ?? '';
    const { uncertainty } = await client.uncertainties.get({ workspaceId, uncertaintyId });
    return Date.parse(uncertainty.createdAt);
  }

  /** Hands a message of the push service to the browser, whose worker gets it. */
  async function deliver(data: string): Promise<void> {
    const found = Promise.withResolvers<string>();
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [own] = registrations.filter(({ isDeleted }) => !isDeleted);
      if (own !== undefined) found.resolve(own.registrationId);
    });
    await devTools.send('ServiceWorker.enable');
    const registrationId = await found.promise;
    const message = { origin: hub.baseUrl, registrationId, data };
    await devTools.send('ServiceWorker.deliverPushMessage', message);
  }

  const look = (view: string) => auditSchemes(page, `app-${view}-360`);

  it('says why a browser cannot notify, and what to do', async () => {
    await page.goto(settingsPath);
    await page.getByRole('button', { name: 'Notify me on this device' }).tap();
    await page.getByText('This browser blocks notifications of this address.').waitFor();
    assert.deepEqual(await look('blocked'), []);
  });

  it('says on an iPhone that it is to be on the home screen first', async () => {
    const userAgent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605.1.15';
    const iPhone = await openVisit(browser, hub.baseUrl, { ...phone, userAgent });
    await lendSession(iPhone.context, ada);
    await iPhone.context.addInitScript('navigator.standalone = false');
    const own = await iPhone.context.newPage();
    await own.goto(settingsPath);
    await own.getByRole('button', { name: 'Notify me on this device' }).tap();
    await own.getByText('first add Signalbox to the home screen: Share').waitFor();
    await iPhone.context.close();
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

  it('leads from a locked screen to a job that continues: two touches, ten seconds', async (t) => {
    const started = visit.context.waitForEvent('serviceworker');
    await page.evaluate(() => navigator.serviceWorker.register('/service-worker.js'));
    const worker = await started;
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    await worker.evaluate(listen);
    const jobId = await enqueue();
    const { text, atMs } = await subscription.next(1);
    const askedMs = await readAskedMs(JSON.parse(text).notification.navigate);
    const steps = [`asked to pushed ${seconds(atMs - askedMs)}`];
    let lastMs = performance.now();
    const firstMs = lastMs;
    const step = (what: string) => {
      const nowMs = performance.now();
      steps.push(`${what} ${seconds(nowMs - lastMs)}`);
      lastMs = nowMs;
    };
    let touches = 0;

    await deliver(text);
    assert.equal(await worker.evaluate(untilShown), 'Choose “Port 9443”');
    step('to the notification');
    touches += 1;
    const opened = await worker.evaluate(touchButton);
    assert.match(opened, /\/inbox\/unc_\w+#answer$/);
    await page.goto(opened);
    const answer = page.getByRole('button', { name: 'Answer “Port 9443”' });
    await answer.waitFor();
    const focused = await page.evaluate(() => document.activeElement?.textContent ?? '');
    assert.match(focused, /^Answer “Port 9443”/);
    step('to the answer on the page');
    touches += 1;
    await answer.tap();
    await page.getByText('You answered').waitFor();
    step('to the durable answer');
    await untilStatus(jobId, 'running');
    // The person has 5 s to take it back.
    step('to the running job');
    const tookMs = lastMs - firstMs;
    t.diagnostic(`${touches} touches, ${seconds(tookMs)}: ${steps.join(', ')}`);
    assert.ok(tookMs < LOCK_SCREEN_TO_RUNNING_MS_MAX, steps.join(', '));
    assert.deepEqual(await look('answer'), []);
    writeFileSync(endFile, '');
    await untilStatus(jobId, 'done');
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

/*
 * These run in the worker. The headless Chromium of tests has no notifications, and no program
 * could touch a button of one: the worker gets the events that a browser sends. The test in Firefox
 * sees that a browser shows the message.
 */

/** Keeps what the worker shows, and the address that it opens. */
function listen(): void {
  const scope = globalThis as unknown as WorkerScope;
  scope.shown = Promise.withResolvers();
  scope.opened = Promise.withResolvers();
  // There is no icon for it: this Chromium ends with a worker that sets one.
  scope.navigator.setAppBadge = async () => {};
  scope.registration.showNotification = async (_title, options) => scope.shown.resolve(options);
  scope.clients.openWindow = async (url) => scope.opened.resolve(url);
}

/** @returns the words of the first button. */
async function untilShown(): Promise<string | undefined> {
  const { shown } = globalThis as unknown as WorkerScope;
  return (await shown.promise).actions[0]?.title;
}

/** @returns the address that the worker opens. */
async function touchButton(): Promise<string> {
  const scope = globalThis as unknown as WorkerScope;
  const { data, actions } = await scope.shown.promise;
  const parts = { notification: { data, close() {} }, action: actions[0]?.action };
  const event = Object.assign(new Event('notificationclick'), parts);
  scope.dispatchEvent(Object.defineProperty(event, 'waitUntil', { value() {} }));
  return await scope.opened.promise;
}

/** The part of a worker that Node's types do not have, and what `listen` adds. */
interface WorkerScope {
  shown: PromiseWithResolvers<ShownOptions>;
  opened: PromiseWithResolvers<string>;
  registration: { showNotification(title: string, options: ShownOptions): Promise<void> };
  navigator: { setAppBadge(count: number): Promise<void> };
  clients: { openWindow(url: string): Promise<void> };
  dispatchEvent(event: Event): void;
}

interface ShownOptions {
  data: object;
  actions: { action: string; title: string }[];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
