import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import { configOf } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { callConsole, joinWorkspace, makeOwner, owner, type SignedIn } from './person.ts';
import { buttonsOf, type SlackMessage, SlackServer, wordsOf } from './slack-server.ts';
import { makeTempDir } from './temp-dir.ts';

const ADA = 'U0ADA';
const GRACE = 'U0GRACE';

describe('Slack, in Socket Mode', { timeout: 60_000 }, () => {
  const folder = makeTempDir({ after });
  let slack: SlackServer;
  let hub: HubProcess;
  let ada: SignedIn;
  let grace: SignedIn;
  let client: Client;
  let runId: string;

  before(async () => {
    slack = await SlackServer.start();
    const dataDir = join(folder, 'data');
    hub = await startHubProcess({ dataDir, env: slack.env });
    ada = await makeOwner(hub);
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    const { token } = await mintTokenByAdmin(await configOf(dataDir), draft);
    client = createClient({ baseUrl: hub.baseUrl, token });
    const { workspaceId } = ada;
    const { repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'a'.repeat(64),
      label: 'acme/api',
    });
    ({ runId } = await client.runs.upsertV1({
      workspaceId,
      repoId,
      runRef: 'feature-1',
      status: 'in_progress',
    }));
    await slack.until(() => slack.connections === 1);
  });
  after(async () => {
    await hub?.stop();
    slack?.close();
  });

  const say = async (user: string, words: string) =>
    (await slack.deliver('slash_commands', slack.command(user, words))).payload;
  const press = (message: SlackMessage, label: string, user?: string) =>
    slack.deliver('interactive', slack.press(message, label, user));
  const ask = (prompt: string, more: object = {}) =>
    client.uncertainties.createWithAutoPromotion({
      workspaceId: ada.workspaceId,
      runId,
      prompt,
      kind: 'choice',
      confidence: 0.2,
      ...more,
    });
  const choose = (prompt: string, more: object = {}) =>
    ask(prompt, {
      options: [{ value: '8080', label: 'Port 8080' }, { value: '9443' }],
      recommendedValue: '9443',
      ...more,
    });
  const read = async (uncertaintyId: string) =>
    (await client.uncertainties.get({ workspaceId: ada.workspaceId, uncertaintyId })).uncertainty;

  const connect = async (person: SignedIn, user: string) => {
    const { workspaceId, cookie } = person;
    const path = 'notification-channels/connect-slack';
    const { answer } = await callConsole(hub.baseUrl, path, { workspaceId }, cookie);
    return { code: String(answer.code), said: (await say(user, `connect ${answer.code}`)).text };
  };
  const atConsole = (path: string, body: object, person = ada) =>
    callConsole(hub.baseUrl, path, { workspaceId: ada.workspaceId, ...body }, person.cookie);
  const labels = (message: SlackMessage) => buttonsOf(message).map(({ text }) => text.text);

  it('connects the account of a person by a code of the console, once', async () => {
    assert.match(String((await say(ADA, '')).text), /not connected/);
    const { code, said } = await connect(ada, ADA);
    assert.match(String(said), /you are Ada Lovelace in Acme/);
    assert.match(String((await say('U0EVE', `connect ${code}`)).text), /wrong, used or older/);
    assert.match(String((await say('U0EVE', 'connect BCDF-GHJK')).text), /wrong, used or older/);
    grace = await joinWorkspace(ada, 'Grace Hopper', 'member');
    assert.match(String((await connect(grace, ADA)).said), /Another member of Acme Works/);
    assert.match(String((await connect(grace, GRACE)).said), /you are Grace Hopper/);
  });

  it('answers by a button; the messages of all then say who answered', async () => {
    const { uncertaintyId } = await choose('Which port?');
    const message = await slack.message(ADA, 'Which port?');
    const other = await slack.message(GRACE, 'Which port?');
    assert.deepEqual(
      buttonsOf(message).map(({ text, style }) => [text.text, style]),
      [
        ['Port 8080', undefined],
        ['9443', 'primary'],
        ['Open', undefined],
      ],
    );
    const late = slack.press(other, '9443');
    await press(message, 'Port 8080');
    await slack.until(() => message.edits > 0 && other.edits > 0);
    assert.match(wordsOf(message), /Ada Lovelace answered “Port 8080”/);
    assert.equal(wordsOf(other), wordsOf(message));
    assert.deepEqual([labels(message), labels(other)], [[], []]);
    await slack.deliver('interactive', late);
    const { resolution, resolutions } = await read(uncertaintyId);
    assert.deepEqual([resolution?.value, resolution?.createdBy], ['8080', owner.name]);
    assert.equal(resolutions?.length, 1);
    const { answer } = await atConsole('audit/list', { limit: 1 });
    const [entry] = answer.entries as { action: string; data: object }[];
    assert.equal(entry?.action, 'uncertainty.resolve');
    assert.partialDeepStrictEqual(entry?.data, { via: 'slack' });
  });

  it('takes a press that comes twice once, and edits a message that it does not know', async () => {
    const { uncertaintyId } = await choose('Which host?');
    const message = await slack.message(ADA, 'Which host?');
    const pressed = slack.press(message, '9443');
    await Promise.all([1, 2].map(() => slack.deliver('interactive', pressed)));
    await slack.until(() => message.edits > 0);
    assert.equal((await read(uncertaintyId)).resolutions?.length, 1);
    const copy = { ...message, ts: '1.000001', edits: 0 };
    slack.messages.push(copy);
    const container = { channel_id: copy.channel, message_ts: copy.ts };
    await slack.deliver('interactive', { ...pressed, container });
    await slack.until(() => copy.edits > 0);
    assert.match(wordsOf(copy), /Ada Lovelace answered “9443”/);
  });

  it('leaves an approval to the console, also when a button is forged', async () => {
    const { uncertaintyId } = await choose('Drop the table?', { kind: 'approval' });
    const message = await slack.message(ADA, 'Drop the table?');
    assert.deepEqual(labels(message), ['Open']);
    const forged = slack.press(message, 'Open');
    const value = `${ada.workspaceId} ${uncertaintyId} 0`;
    const actions = [{ action_id: 'choose-0', action_ts: '1.1', value }];
    await slack.deliver('interactive', { ...forged, actions });
    const whisper = await slack.until(() => slack.whispers.at(-1));
    assert.match(whisper.text, /^Only the console settles this question: http/);
    assert.equal((await read(uncertaintyId)).status, 'open');
    await atConsole('uncertainties/add-resolution', {
      uncertaintyId,
      mode: 'answered',
      value: '9443',
      confidence: 1,
    });
    await slack.until(() => message.edits > 0);
    assert.match(wordsOf(message), /Ada Lovelace answered “9443”/);
  });

  it('asks again when an answer of the console is withdrawn', async () => {
    const { uncertaintyId } = await choose('Which cache?');
    const message = await slack.message(ADA, 'Which cache?');
    const { answer } = await atConsole('uncertainties/add-resolution', {
      uncertaintyId,
      mode: 'dismissed',
      value: '',
      confidence: 1,
      undoMs: 10_000,
    });
    await slack.until(() => wordsOf(message).includes('Ada Lovelace dismissed it'));
    const { resolutionId } = answer;
    await atConsole('uncertainties/withdraw-resolution', { uncertaintyId, resolutionId });
    await slack.until(() => labels(message).length > 0);
    assert.deepEqual(labels(message), ['Port 8080', '9443', 'Open']);
    await press(message, '9443');
    await slack.until(() => wordsOf(message).includes('Ada Lovelace answered'));
  });

  it('takes an answer in words by a form, and says there why it does not', async () => {
    const { uncertaintyId } = await ask('Which <!channel> *region*?', { kind: 'missing_fact' });
    const message = await slack.message(ADA, 'region');
    assert.match(wordsOf(message), /“Which <!channel> \*region\*\?”/);
    assert.doesNotMatch(message.text, /<!channel>/);
    assert.deepEqual(labels(message), ['Answer', 'Open']);
    await press(message, 'Answer');
    const view = await slack.until(() => slack.views.at(-1));
    const empty = await slack.deliver('interactive', slack.submit(view, ADA, ' '));
    assert.equal(empty.payload.response_action, 'errors');
    const { payload } = await slack.deliver('interactive', slack.submit(view, ADA, 'eu-central-1'));
    assert.deepEqual(payload, {});
    await slack.until(() => message.edits > 0);
    assert.equal((await read(uncertaintyId)).resolution?.value, 'eu-central-1');
  });

  async function listWork() {
    const { jobs } = await client.jobs.list({ workspaceId: ada.workspaceId });
    return jobs.filter(({ kind }) => kind === 'work');
  }

  it('lists what waits, and enqueues in a repository', async () => {
    await ask('Which licence?', { kind: 'missing_fact' });
    const waits = await say(ADA, 'waits');
    assert.match(
      JSON.stringify(waits.blocks),
      /1 question waits in Acme Works\..*“Which licence\?”/,
    );
    const enqueued = await say(ADA, 'api Add a &lt;health&gt; check');
    assert.match(String(enqueued.text), /^Enqueued in acme\/api: “Add a &lt;health&gt; check”$/);
    const [{ jobId } = {}, ...others] = await listWork();
    assert.deepEqual(others, []);
    const { job } = await client.jobs.get({ workspaceId: ada.workspaceId, jobId: jobId ?? '' });
    assert.deepEqual([job.prompt, job.createdBy.name], ['Add a <health> check', owner.name]);
    assert.match(String((await say(ADA, 'web Paint it')).text), /repository.*: acme\/api\./);
    const command = slack.command(ADA, 'enqueue acme/api Paint it');
    for (const _ of [1, 2]) await slack.deliver('slash_commands', command);
    assert.equal((await listWork()).length, 2);
  });

  it('takes nothing from a person who has left, or from another account', async () => {
    const { uncertaintyId } = await choose('Which queue?');
    const message = await slack.message(GRACE, 'Which queue?');
    await slack.deliver('interactive', slack.press(message, '9443', 'U0EVE'));
    assert.match(slack.whispers.at(-1)?.text ?? '', /not connected/);
    const { answer } = await atConsole('members/list', {});
    const { members } = answer as { members: { personId: string; name: string }[] };
    const personId = members.find(({ name }) => name === 'Grace Hopper')?.personId;
    await atConsole('members/remove', { personId });
    await press(message, '9443');
    assert.equal((await read(uncertaintyId)).status, 'open');
    const last = await slack.message(ADA, 'Which queue?');
    await press(last, '9443');
    await slack.until(() => message.edits > 0);
    assert.doesNotMatch(wordsOf(message), /9443|queue/);
    assert.match(String((await say(GRACE, '')).text), /not connected/);
  });

  it('quotes nothing for a person who does not want it', async () => {
    const { answer } = await atConsole('notification-channels/list', {});
    const [channel] = answer.channels as { channelId: string; events: string[] }[];
    const settings = { kind: 'slack_app', name: 'Slack', events: channel?.events };
    const put = (more: object) => atConsole('notification-channels/put', { ...settings, ...more });
    await assert.rejects(put({ showsText: true }), /connect Slack with a code/);
    await put({ channelId: channel?.channelId, showsText: false });
    const { uncertaintyId } = await choose('Which pump?');
    const message = await slack.message(ADA, 'Open it to see the question.');
    assert.deepEqual(labels(message), ['Open']);
    await atConsole('uncertainties/add-resolution', {
      uncertaintyId,
      mode: 'answered',
      value: '9443',
      confidence: 1,
    });
    await slack.until(() => message.edits > 0);
    assert.match(wordsOf(message), /Ada Lovelace answered it\./);
    await put({ channelId: channel?.channelId, showsText: true });
  });

  it('waits as long as Slack asks, and stops a channel that Slack refuses', async () => {
    slack.refusals.set('chat.postMessage', { status: 429, retryAfter: 1 });
    await choose('Which disk?');
    await slack.until(() => slack.calls.at(-1) === 'chat.postMessage');
    slack.refusals.delete('chat.postMessage');
    await slack.message(ADA, 'Which disk?');
    slack.refusals.set('chat.postMessage', { error: 'user_disabled' });
    const before = await atConsole('notification-channels/list', {});
    const [{ channelId } = {}] = before.answer.channels as { channelId: string }[];
    const { answer } = await atConsole('notification-channels/test', { channelId });
    assert.match(String(answer.failure), /user_disabled/);
    await choose('Which fan?');
    await slack.until(() => slack.calls.at(-1) === 'chat.postMessage');
    slack.refusals.delete('chat.postMessage');
    assert.match(String((await connect(ada, ADA)).said), /you are Ada/);
    await choose('Which belt?');
    await slack.message(ADA, 'Which belt?');
  });

  it('connects again after Slack has ended the connection', async () => {
    const calls = slack.calls.length;
    slack.dropConnections();
    await slack.until(() => slack.calls.includes('apps.connections.open', calls));
    await slack.until(() => slack.connections === 1);
    assert.match(String((await say(ADA, 'help')).text), /REPOSITORY what to do/);
  });

  it('asks for the workspace when an account is connected with several', async () => {
    const draft = { name: 'Beta Works', slug: 'beta' };
    const { answer } = await callConsole(hub.baseUrl, 'workspaces/create', draft, ada.cookie);
    const { workspaceId } = answer.workspace as { workspaceId: string };
    assert.match(String((await connect({ ...ada, workspaceId }, ADA)).said), /in Beta Works/);
    const both = JSON.stringify((await say(ADA, '')).blocks);
    assert.match(both, /in Acme Works\..*Nothing waits in Beta Works\./);
    const asked = await say(ADA, 'api Paint it');
    assert.match(String(asked.text), /^Begin with the workspace: (acme, beta|beta, acme)\./);
    assert.match(String((await say(ADA, 'acme api Paint it')).text), /^Enqueued in acme\/api/);
    assert.match(String((await say(ADA, 'beta api Paint it')).text), /no repositories yet/);
  });
});
