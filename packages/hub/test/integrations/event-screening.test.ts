import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { readIngest } from '../../src/integrations/event.ts';
import { recordEvent, screenEvent } from '../../src/integrations/record-event.ts';
import { startIntegrationWorld } from '../support/integration-world.ts';

const SECRET_TEXT = 'The key is ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789.';

test('the transaction of an event stores what was screened before it, unless the policy changed', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const { deps } = world.hub;
  const { database } = deps;
  const screen = () => {
    const { event } = readIngest(world.event({ content: SECRET_TEXT }));
    return screenEvent(deps, workspaceId, event);
  };
  const record = (screened: Awaited<ReturnType<typeof screen>>) =>
    database.write(workspaceId, (tx) =>
      recordEvent(deps, tx, screened, async () => ({ ignored: 'event_type' })),
    );
  const first = await screen();
  assert.doesNotMatch(first.storable.content, /ghp_/);
  first.storable.title = 'as it was screened';
  const { row } = await record(first);
  assert.equal(row.title, 'as it was screened', 'nothing is redacted again');

  const second = await screen();
  await world.atConsole(consoleEndpoints.workspaceSettings.update, {
    workspaceId,
    dataPolicy: { contentStorage: 'metadata' },
  });
  assert.notEqual(second.storable.content, '');
  assert.equal((await record(second)).row.content, '', 'the policy of the transaction counts');
});
