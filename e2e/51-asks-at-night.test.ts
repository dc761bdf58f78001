import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findFreePorts } from '@signalbox/local-postgres';
import type { Browser, Page } from 'playwright-core';
import type { StartedProcess } from '../scripts/process/start-process.ts';
import { browserMissing, launchBrowser, openVisit, type Visit } from './browser.ts';
import { configFlag, createMachine, logIn, type Machine, runJson } from './cli-process.ts';
import { type Firefox, firefoxMissing, startFirefox } from './firefox.ts';
import { makeClone } from './git-clone.ts';
import { hasSeveralHubs, moveOutbox } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { startLoadBalancer } from './load-balancer.ts';
import { startMailInbox } from './mail-inbox.ts';
import {
  callConsole,
  joinWorkspace,
  lendSession,
  makeOwner,
  owner,
  type SignedIn,
} from './person.ts';
import { startPushService } from './push-server.ts';
import { buttonsOf, SlackServer, wordsOf } from './slack-server.ts';
import { makeTempDir } from './temp-dir.ts';
import { toolMissing } from './tools/install-tool.ts';
import { type RecordingProxy, startRecordingProxy } from './tools/recording-proxy.ts';
import { type ScriptedModel, startScriptedModel } from './tools/scripted-model.ts';
import { type JobAnswer, logOf } from './tools/tool-bench.ts';
import { makeToolPlace } from './tools/tool-place.ts';
import { hang, say, use, write } from './tools/turns.ts';

/** Grace, in Slack. */
const GRACE = 'U0GRACE';
const LIMIT_MS = 180_000;
const MINUTE_MS = 60_000;
const home = `/w/${owner.workspaceSlug}`;
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
const asksPerson = use({
  tool: 'native',
  namespace: 'mcp__signalbox',
  name: 'ask_person',
  input: { question: 'Which port?', options: ['8080', '9443'], recommended: '9443' },
});

/*
 * Ada's phone is off and their mail comes 2 minutes later; Grace is next after 5 minutes. Codex
 * asks, one of two hubs is killed, Grace answers, and Codex continues. No minute is waited for:
 * the hub says when each message is due, and its row in the outbox is then moved by that time. On
 * SQLite, which has one hub at a time, the second one starts after the first.
 */
describe('a job asks at night, with the real Codex', {
  timeout: 180_000,
  skip: browserMissing || firefoxMissing || toolMissing('codex', 'codex-acp'),
}, () => {
  const folder = makeTempDir({ after });
  const dataDir = join(folder, 'data');
  const ends: (() => void)[] = [];
  // `after` within a hook would run at the end of the hook.
  const later = { after: (end: () => void) => void ends.push(end) };
  const clone = join(folder, 'clone');
  let ports: number[];
  const hubs: HubProcess[] = [];
  let baseUrl: string;
  let model: ScriptedModel;
  let proxy: RecordingProxy;
  let slack: SlackServer;
  let service: Awaited<ReturnType<typeof startPushService>>;
  let inbox: Awaited<ReturnType<typeof startMailInbox>>;
  let ada: SignedIn;
  let grace: SignedIn;
  let machine: Machine;
  let agent: StartedProcess;
  let firefox: Firefox;
  let browser: Browser;
  let visit: Visit;
  let page: Page;
  let jobId: string;
  let uncertaintyId: string;

  before(async () => {
    [model, proxy, slack, service, inbox, ports] = await Promise.all([
      startScriptedModel(),
      startRecordingProxy(),
      SlackServer.start(),
      startPushService(later),
      startMailInbox(),
      findFreePorts(2),
    ]);
    ({ baseUrl } = await startLoadBalancer(later, ports));
    const first = await startHub(0);
    if (hasSeveralHubs) await startHub(1);
    ada = await makeOwner({ ...first, baseUrl });
    grace = await joinWorkspace(ada, 'Grace Hopper', 'member');
    browser = await launchBrowser();
    visit = await openVisit(browser, baseUrl, phone);
    await lendSession(visit.context, ada);
    page = await visit.context.newPage();
  });
  after(async () => {
    agent?.child.kill('SIGTERM');
    await agent?.ended;
    await browser?.close();
    await firefox?.close();
    await Promise.all(hubs.map((hub) => hub.stop()));
    inbox?.close();
    slack?.close();
    for (const end of ends) end();
    await Promise.all([model?.close(), proxy?.close()]);
  });

  async function startHub(at: 0 | 1): Promise<HubProcess> {
    const env = {
      SVC_BASE_URL: baseUrl,
      SVC_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
      SVC_SMTP_URL: inbox.url,
      SVC_MAIL_FROM: 'signalbox@acme.example',
      ...slack.env,
    };
    const hub = await startHubProcess({ dataDir, port: Number(ports[at]), env });
    hubs.push(hub);
    return hub;
  }

  const call = async (person: SignedIn, path: string, body: object) => {
    const { workspaceId, cookie } = person;
    return (await callConsole(baseUrl, path, { workspaceId, ...body }, cookie)).answer;
  };

  /** Ada's phone: Firefox with a profile that stays while it is off. */
  async function turnPhoneOn(): Promise<void> {
    const profile = join(folder, 'firefox');
    mkdirSync(profile, { recursive: true });
    firefox = await startFirefox(profile, service.webSocketUrl);
    const [name = '', value = ''] = ada.cookie.split('=');
    await firefox.setCookie({ name, value, domain: new URL(baseUrl).hostname });
    await firefox.open(`${baseUrl}${home}/settings/notifications`);
  }

  /** Grace proves at both sides that the account of Slack is theirs. */
  async function connectSlack(): Promise<void> {
    await slack.until(() => slack.connections > 0);
    const { code } = await call(grace, 'notification-channels/connect-slack', {});
    const command = slack.command(GRACE, `connect ${String(code)}`);
    const { payload } = await slack.deliver('slash_commands', command);
    assert.match(String(payload.text), /you are Grace Hopper/);
  }

  it('begins with a phone, mail that comes later, and a second person', async () => {
    await turnPhoneOn();
    await firefox.press('Notify me on this device');
    await firefox.see(
      `document.querySelector('[aria-label=Channels]')?.textContent.includes('this device')`,
    );
    await firefox.close();
    const mail = { kind: 'mail', name: 'Mail', showsText: true, afterMinutes: 2 };
    await call(ada, 'notification-channels/put', { ...mail, events: ['decision'] });
    await connectSlack();
    const { env } = makeToolPlace({
      folder,
      tools: ['codex', 'codex-acp'],
      modelUrl: model.baseUrl,
      proxyEnv: proxy.env,
    });
    machine = createMachine(folder, env);
    await logIn(machine, { ...ada, baseUrl }, owner.workspaceSlug);
    makeClone(clone, 'git@git.acme.example:acme/api.git');
    const linked = await runJson<{ repo: Linked }>(machine, ['repo', 'link', clone]);
    const { members } = await call(ada, 'members/list', {});
    const second = (members as Member[]).find(({ name }) => name === 'Grace Hopper');
    const askOrder = { personIds: [null, second?.personId], minutes: 5 };
    const { remoteUrlHash } = linked.repo;
    await call(ada, 'repos/upsert', { remoteUrlHash, askOrder });
    const settings = configFlag(folder, { tool: { name: 'codex' }, hold: '2s' });
    agent = machine.start(['agent', 'start', '--json', ...settings]);
    await agent.waitFor(/"type":"online"/, LIMIT_MS);
  });

  it('sends a push to the phone that is off, and plans who is told next', async () => {
    model.script({ night: [asksPerson, hang()] });
    const line = ['enqueue', 'Set the port.\n\n[scenario night]'];
    ({ jobId } = await runJson<{ jobId: string }>(machine, line, clone));
    await service.untilPosted(1);
    assert.deepEqual([service.posts[0]?.status, service.kept()], [201, 1]);
    const { uncertainties } = await call(ada, 'uncertainties/list', { jobId });
    [{ uncertaintyId }] = uncertainties as [{ uncertaintyId: string }];
    const { notifications } = await call(ada, 'notifications/list', { uncertaintyId });
    const planned = (notifications as Notification[])
      .filter(({ dueAt }) => dueAt !== null)
      .map(({ personName, channelName, dueAt, createdAt }) => {
        const minutes = (Date.parse(dueAt ?? '') - Date.parse(createdAt)) / MINUTE_MS;
        return [personName, channelName, minutes];
      });
    assert.deepEqual(planned, [
      ['Ada Lovelace', 'Mail', 2],
      ['Grace Hopper', 'Slack', 5],
    ]);
    await agent.waitFor(/"type":"result-accepted".*"blocked"/, LIMIT_MS);
  });

  it('mails after two minutes, by the hub that is left', async () => {
    await hubs[0]?.kill();
    if (!hasSeveralHubs) await startHub(1);
    assert.deepEqual(inbox.mails, []);
    await moveOutbox(dataDir, 2 * MINUTE_MS);
    const { to, text } = await inbox.next(1);
    assert.deepEqual(to, [owner.email]);
    const [, link = ''] = /^Open it: (\S+)/m.exec(text) ?? [];
    assert.equal(link, `${baseUrl}${home}/inbox/${uncertaintyId}`);
    await page.goto(link);
    await page.getByRole('radio', { name: /9443/ }).waitFor();
  });

  it('asks the second person in Slack after five, and all doors show the answer', async (t) => {
    model.script({ night: [write('port.txt', '9443\n'), say('The port is set.'), say('A port')] });
    await slack.until(() => slack.connections > 0);
    assert.deepEqual(slack.messages, []);
    await moveOutbox(dataDir, 3 * MINUTE_MS);
    const message = await slack.message(GRACE, 'Which port?');
    assert.deepEqual(
      buttonsOf(message).map(({ text }) => text.text),
      ['8080', '9443', 'Open'],
    );
    const pressedMs = performance.now();
    const sinceMs = () => Math.round(performance.now() - pressedMs);
    const onPage = page.getByText('Grace Hopper answered').first();
    const doors = {
      slack: slack.until(() => message.edits > 0).then(sinceMs),
      page: onPage.waitFor().then(sinceMs),
      push: service.untilPosted(2).then(sinceMs),
    };
    await slack.deliver('interactive', slack.press(message, '9443'));
    const [inSlack, byPage, byPush] = await Promise.all([doors.slack, doors.page, doors.push]);
    t.diagnostic(`shown by Slack after ${inSlack} ms, page ${byPage} ms, push ${byPush} ms`);
    assert.match(wordsOf(message), /Grace Hopper answered “9443”/);
    assert.deepEqual(buttonsOf(message), []);
    // The message about the answer has taken the place of the question, which no one has seen.
    assert.deepEqual([service.posts[1]?.status, service.kept()], [201, 1]);
  });

  it('shows on the phone that comes on that it was answered, and nothing else', async () => {
    await turnPhoneOn();
    const [shown] = await firefox.shown(1);
    assert.deepEqual(
      [shown?.title, shown?.body, shown?.actions],
      ['Grace Hopper answered it.', 'Open it to see the question.', []],
    );
  });

  it('continues Codex with the answer, and tells no one else', async () => {
    await agent.waitFor(/"type":"result-accepted".*"done"/, LIMIT_MS);
    const answer = await runJson<JobAnswer>(machine, ['job', jobId, '--events', '1000'], clone);
    assert.equal(answer.job.status, 'done', logOf(answer));
    assert.match(logOf(answer), /^\[resumed session /m);
    assert.deepEqual(answer.job.evidence?.changedFiles, ['port.txt']);
    assert.match(JSON.stringify(model.requests.at(-2)?.body), /Which port\?.*9443/);
    assert.deepEqual([inbox.mails.length, slack.messages.length, service.posts.length], [1, 1, 2]);
    assert.deepEqual([model.unexpected, proxy.requests], [[], []]);
    assert.deepEqual(visit.troubles, []);
  });
});

interface Member {
  personId: string;
  name: string;
}

interface Linked {
  repoId: string;
  remoteUrlHash: string;
}

interface Notification {
  personName: string;
  channelName: string;
  createdAt: string;
  dueAt: string | null;
}
