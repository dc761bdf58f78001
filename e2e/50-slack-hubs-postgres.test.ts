import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { createClient } from '@signalbox/sdk';
import { configOf } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { callConsole, makeOwner, owner, type SignedIn } from './person.ts';
import { buttonsOf, postSigned, SlackServer, slackTokens, wordsOf } from './slack-server.ts';
import { makeTempDir } from './temp-dir.ts';

const ADA = 'U0ADA';
const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';

/* A hub may be killed between an answer and the edit of the messages that it is about. */
describe('Slack, with two hubs', { timeout: 120_000 }, () => {
  const folder = makeTempDir({ after });
  const hubs: HubProcess[] = [];
  let slack: SlackServer;
  let ada: SignedIn;

  before(async () => {
    slack = await SlackServer.start();
    const dataDir = join(folder, 'data');
    // Without Socket Mode: Slack sends signed requests.
    const env = {
      SVC_SLACK_BOT_TOKEN: slackTokens.SVC_SLACK_BOT_TOKEN,
      SVC_SLACK_API_URL: slack.apiUrl,
      SVC_SLACK_SIGNING_SECRET: SIGNING_SECRET,
    };
    hubs.push(await startHubProcess({ dataDir, env }));
    ada = await makeOwner(first());
    hubs.push(await startHubProcess({ dataDir, env }));
  });
  after(async () => {
    for (const hub of hubs) await hub.stop();
    slack?.close();
  });
  const first = () => hubs[0] as HubProcess;
  const second = () => hubs[1] as HubProcess;
  const post = (hub: HubProcess, path: string, fields: Record<string, string>) =>
    postSigned(`${hub.baseUrl}/slack/${path}`, fields, { secret: SIGNING_SECRET });

  it('edits the message of a question that was answered on a hub that was killed then', async () => {
    const { workspaceId, cookie } = ada;
    const path = 'notification-channels/connect-slack';
    const { answer } = await callConsole(first().baseUrl, path, { workspaceId }, cookie);
    const connected = slack.command(ADA, `connect ${answer.code}`);
    assert.match(
      String((await post(second(), 'commands', connected)).payload.text),
      /you are Ada Lovelace/,
    );
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    const { token } = await mintTokenByAdmin(await configOf(join(folder, 'data')), draft);
    const client = createClient({ baseUrl: second().baseUrl, token });
    const { repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'a'.repeat(64),
      label: 'api',
    });
    const { runId } = await client.runs.upsertV1({
      workspaceId,
      repoId,
      runRef: 'feature-1',
      status: 'in_progress',
    });
    const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion({
      workspaceId,
      runId,
      prompt: 'Which port?',
      kind: 'choice',
      confidence: 0.2,
      options: [{ value: '8080' }, { value: '9443' }],
    });
    const message = await slack.message(ADA, 'Which port?');
    // The first hub sends, as it leads; it gets no answer to its edit.
    slack.refusals.set('chat.update', { status: 503 });
    const payload = JSON.stringify(slack.press(message, '9443'));
    assert.equal((await post(first(), 'interactions', { payload })).status, 200);
    await slack.until(() => slack.calls.at(-1) === 'chat.update');
    await first().kill();
    hubs.shift();
    slack.refusals.delete('chat.update');
    await slack.until(() => message.edits > 0);
    assert.match(wordsOf(message), /Ada Lovelace answered “9443”/);
    assert.deepEqual(buttonsOf(message), []);
    // The press comes again, to the other hub.
    assert.equal((await post(hubs[0] as HubProcess, 'interactions', { payload })).status, 200);
    const { uncertainty } = await client.uncertainties.get({ workspaceId, uncertaintyId });
    assert.equal(uncertainty.resolutions?.length, 1);
  });
});
