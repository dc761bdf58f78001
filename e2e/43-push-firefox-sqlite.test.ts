import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import { type Firefox, firefoxMissing, startFirefox } from './firefox.ts';
import { configOf } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { callConsole, makeOwner, owner, type SignedIn } from './person.ts';
import { startPushService } from './push-server.ts';
import { makeTempDir } from './temp-dir.ts';

const settingsPath = `/w/${owner.workspaceSlug}/settings/notifications`;
const port = {
  kind: 'choice' as const,
  prompt: 'Which port?',
  confidence: 0.2,
  recommendedValue: '9443',
  options: ['8080', '9443'].map((value) => ({ value, label: value })),
};

/* Firefox subscribes at a push service here, decrypts what the hub sends, and shows it. */
describe('Web Push, in Firefox', { skip: firefoxMissing }, () => {
  const folder = makeTempDir({ after });
  let endService = () => {};
  let service: Awaited<ReturnType<typeof startPushService>>;
  let hub: HubProcess;
  let ada: SignedIn;
  let client: Client;
  let firefox: Firefox;
  let runId: string;

  before(async () => {
    // `after` within a hook would run at the end of the hook.
    service = await startPushService({
      after: (end) => {
        endService = end;
      },
    });
    const dataDir = join(folder, 'data');
    hub = await startHubProcess({ dataDir, env: { SVC_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } });
    ada = await makeOwner(hub);
    const { workspaceId } = ada;
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    const { token } = await mintTokenByAdmin(await configOf(dataDir), draft);
    client = createClient({ baseUrl: hub.baseUrl, token });
    const { repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'a'.repeat(64),
      label: 'api',
    });
    const run = { workspaceId, repoId, runRef: 'feature-1', status: 'in_progress' };
    ({ runId } = await client.runs.upsertV1(run));
    const profile = join(folder, 'firefox');
    mkdirSync(profile);
    firefox = await startFirefox(profile, service.webSocketUrl);
    const [name = '', value = ''] = ada.cookie.split('=');
    await firefox.setCookie({ name, value, domain: new URL(hub.baseUrl).hostname });
  });
  after(async () => {
    await firefox?.close();
    await hub?.stop();
    endService();
  });

  const ask = () =>
    client.uncertainties.createWithAutoPromotion({
      workspaceId: ada.workspaceId,
      runId,
      ...port,
    });
  it('is turned on by one button', async () => {
    await firefox.open(hub.baseUrl + settingsPath);
    await firefox.press('Notify me on this device');
    await firefox.see(
      `document.querySelector('[aria-label=Channels]')?.textContent.includes('this device')`,
    );
    const buttons = await firefox.run<string[]>(
      `[...document.querySelectorAll('main button')].map((button) => button.textContent)`,
    );
    assert.ok(!buttons.includes('Notify me on this device'), buttons.join());
    assert.equal(service.subscriptions.size, 1);
  });

  it('shows that a job asks, without the question', async () => {
    await ask();
    const [first] = await firefox.shown(1);
    assert.deepEqual(
      [first?.title, first?.body],
      ['A job asks you', 'Open it to see the question.'],
    );
    assert.deepEqual(
      service.posts.map(({ status }) => status),
      [201],
    );
  });

  it('shows the question and the recommended answer once the person wants it', async () => {
    await firefox.press('Change');
    await firefox.see(`[...document.querySelectorAll('label')]
      .some((label) => label.textContent.startsWith('Quote questions') && (label.click(), true))`);
    await firefox.press('Save');
    await firefox.see(
      `document.querySelector('[aria-label=Channels]')?.textContent.includes('quotes questions')`,
    );
    await ask();
    const all = await firefox.shown(2);
    const quoted = all.find(({ body }) => body === '“Which port?”');
    assert.deepEqual(
      quoted?.actions.map(({ title }) => title),
      ['Choose “9443”', 'Open'],
      JSON.stringify(all),
    );
  });

  it('ends when the person signs out, and the hub says why', async () => {
    await firefox.press('Ada Lovelace');
    await firefox.see(`[...document.querySelectorAll('[role=menuitem]')]
      .some((item) => item.textContent === 'Sign out' && (item.click(), true))`);
    await firefox.see(`location.pathname === '/sign-in'`);
    await firefox.see(`navigator.serviceWorker.getRegistration()
      .then((registration) => registration.pushManager.getSubscription())
      .then((subscription) => subscription === null)`);
    const { uncertaintyId } = await ask();
    const { email, password } = owner;
    const signedIn = await callConsole(hub.baseUrl, 'session/sign-in', { email, password });
    const told = { workspaceId: ada.workspaceId, uncertaintyId };
    const list = async () => {
      const { answer } = await callConsole(
        ...([hub.baseUrl, 'notifications/list', told, signedIn.cookie] as const),
      );
      return (answer.notifications as { state: string; failure: string | null }[])[0];
    };
    let last = await list();
    while (last?.state === 'waiting') last = await list();
    assert.deepEqual([last?.state, last?.failure], ['failed', 'The receiver answered 410.']);
  });
});
