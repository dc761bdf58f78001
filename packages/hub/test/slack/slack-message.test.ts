import assert from 'node:assert/strict';
import { test } from 'node:test';
import { questionMessage } from '../../src/notifications/slack-message.ts';

const draft = { title: 'A job asks you', text: '“Go?”', url: 'https://hub.acme.dev/w/acme' };
const place = { workspaceId: 'ws_1', uncertaintyId: 'unc_1', recommendedValue: null };

function buttonsOf(options: { value: string; label?: string }[]): string[] {
  const row = questionMessage(draft, { ...place, options }).blocks.at(-1);
  assert.ok(row?.type === 'actions');
  return row.elements.map((element) => (element.type === 'button' ? element.text.text : ''));
}

test('choices become buttons within the limits of Slack, or the console has them', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ value: `v${at}` }));
  assert.equal(buttonsOf(many(24)).length, 25);
  assert.deepEqual(buttonsOf(many(25)), ['Open']);
  const long = 'x'.repeat(90);
  const [first = ''] = buttonsOf([{ value: 'a', label: long }, { value: 'b' }]);
  assert.equal(first.length <= 75 && first.endsWith('…'), true);
  const alike = [1, 2].map((at) => ({ value: `v${at}`, label: `${long}${at}` }));
  assert.deepEqual(buttonsOf(alike), ['Open']);
});
