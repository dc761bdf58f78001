import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import { configOf } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { callConsole, makeOwner, owner, type SignedIn } from './person.ts';
import { buttonsOf, type SlackMessage, SlackServer, wordsOf } from './slack-server.ts';
import { makeTempDir } from './temp-dir.ts';

const ADA = 'U0ADA';

describe('Slack, in Socket Mode', { timeout: 60_000 }, () => {
  const folder = makeTempDir({ after });
  let slack: SlackServer;
  let hub: HubProcess;
  let ada: SignedIn;
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
      ...{ workspaceId, remoteUrlHash: 'a'.repeat(64), label: 'acme/api' },
    });
    ({ runId } = await client.runs.upsertV1({
      ...{ workspaceId, repoId, runRef: 'feature-1', status: 'in_progress' },
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
      ...{ workspaceId: ada.workspaceId, runId, prompt, kind: 'choice', confidence: 0.2 },
      ...more,
    });
  const choose = (prompt: string, more: object = {}) =>
    ask(prompt, {
      ...{ options: [{ value: '8080', label: 'Port 8080' }, { value: '9443' }] },
      ...{ recommendedValue: '9443', ...more },
    });
  const read = async (uncertaintyId: string) =>
    (await client.uncertainties.get({ workspaceId: ada.workspaceId, uncertaintyId })).uncertainty;

  it('connects the account of a person by a code of the console, once', async () => {
    assert.match(String((await say(ADA, '')).text), /not connected/);
    const { answer } = await callConsole(
      hub.baseUrl,
      'notification-channels/connect-slack',
      { workspaceId: ada.workspaceId },
      ada.cookie,
    );
    const code = String(answer.code);
    assert.match(String((await say(ADA, `connect ${code}`)).text), /you are Ada Lovelace in Acme/);
    assert.match(String((await say('U0EVE', `connect ${code}`)).text), /wrong, used or older/);
  });

  it('answers by a button, and the message then says who answered', async () => {
    const { uncertaintyId } = await choose('Which port?');
    const message = await slack.message(ADA, 'Which port?');
    assert.deepEqual(
      buttonsOf(message).map(({ text, style }) => [text.text, style]),
      [
        ['Port 8080', undefined],
        ['9443', 'primary'],
        ['Open', undefined],
      ],
    );
    await press(message, 'Port 8080');
    await slack.until(() => message.edits === 1);
    assert.match(wordsOf(message), /Ada Lovelace answered “Port 8080”/);
    assert.deepEqual(buttonsOf(message), []);
    const { resolution } = await read(uncertaintyId);
    assert.deepEqual([resolution?.value, resolution?.createdBy], ['8080', owner.name]);
  });
});
