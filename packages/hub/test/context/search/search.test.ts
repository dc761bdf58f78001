import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addContextItem } from '../../../src/context/add-item.ts';
import { searchItemIds } from '../../../src/context/search/search.ts';
import { stemOf } from '../../../src/context/search/stem.ts';
import { termsOf } from '../../../src/context/search/terms.ts';
import { startContextWorld } from '../../support/context-world.ts';

/** Words that share stems, so that a query matches other forms in the texts. */
const words = (
  'invoice invoices invoiced rounding rounded rounds billing bill bills export exporting exports ' +
  'deploy deployed deployment gateway gateways timeout timeouts database databases café cafe ' +
  '請求書 丸め方 2026 v2 naïve naive'
).split(' ');
const ITEMS = 120;
const QUERIES = 60;

interface Text {
  title: string;
  text: string;
}

/** A generator with a fixed seed. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

function writeTexts(dice: (sides: number) => number): Text[] {
  const tell = (count: number) =>
    Array.from({ length: count }, () => words[dice(words.length)]).join(' ');
  return Array.from({ length: ITEMS }, (_none, at) => {
    const filler = Array.from({ length: dice(20) }, (_word, n) => `filler${at}x${n}`);
    return { title: tell(dice(3)), text: `${tell(1 + dice(4))} ${filler.join(' ')}` };
  });
}

/**
 * Okapi BM25 with the numbers of FTS5 (sqlite.org/fts5.html#the_bm25_function), spelt out: a word
 * counts once for the text and four times for the title, however often it stands there.
 */
function scoreAll(texts: readonly Text[], query: readonly string[]): number[] {
  const stemsOf = (text: string) => termsOf(text, 10_000).map(stemOf);
  const items = texts.map(({ title, text }) => ({ title: stemsOf(title), text: stemsOf(text) }));
  const lengths = items.map(({ title, text }) => title.length + text.length);
  const average = lengths.reduce((sum, length) => sum + length, 0) / items.length;
  const scores = items.map(() => 0);
  for (const stem of query.map(stemOf)) {
    const counts = items.map(
      ({ title, text }) => (title.includes(stem) ? 4 : 0) + (text.includes(stem) ? 1 : 0),
    );
    const having = counts.filter((count) => count > 0).length;
    const idf = Math.max(Math.log((items.length - having + 0.5) / (having + 0.5)), 1e-6);
    counts.forEach((count, at) => {
      const room = 1.2 * (0.25 + (0.75 * (lengths[at] ?? 0)) / average);
      scores[at] = (scores[at] ?? 0) + (idf * count * 2.2) / (count + room);
    });
  }
  return scores;
}

test('a search returns the matches of bm25 over the stems, in its order', async (t) => {
  const { hub, workspaceId } = await startContextWorld(t);
  const { database, deps } = hub;
  const dice = createDice(7);
  const texts = writeTexts(dice);
  const draft = { workspaceId, kind: 'note', source: 'api', trust: 'member' } as const;
  const ids = await database.write(workspaceId, async (tx) => {
    const added: string[] = [];
    for (const { title, text } of texts) {
      const { item } = await addContextItem(tx, deps, { ...draft, title, text, createdBy: 'test' });
      added.push(item.item_id);
    }
    return added;
  });
  for (let n = 0; n < QUERIES; n++) {
    const query = Array.from({ length: 1 + dice(4) }, () => words[dice(words.length)]).join(' ');
    const terms = [...new Set(termsOf(query, 100))];
    const scores = scoreAll(texts, terms);
    const found = await searchItemIds(database.reader, {
      workspaceId,
      terms,
      includeSuperseded: false,
      limit: ITEMS,
    });
    const positions = found.map((id) => ids.indexOf(id));
    const expected = scores.flatMap((score, at) => (score > 0 ? [at] : []));
    assert.deepEqual(
      [...positions].sort((a, b) => a - b),
      expected,
      query,
    );
    for (let at = 1; at < positions.length; at++) {
      const before = positions[at - 1] ?? 0;
      const here = positions[at] ?? 0;
      const fall = (scores[before] ?? 0) - (scores[here] ?? 0);
      assert.ok(fall > -1e-5, `${query}: ${before} stands before ${here}`);
      if (fall === 0) assert.ok(before > here, `${query}: of equal matches the latest comes first`);
    }
  }
});

test('a word counts more in a title than in a text, and more in a short item than in a long one', async (t) => {
  const { hub, add, workspaceId } = await startContextWorld(t);
  const rest = (count: number) => Array.from({ length: count }, (_n, at) => `rest${at}`).join(' ');
  const titled = await add({ title: 'gauge', text: rest(19) });
  const short = await add({ text: `gauge ${rest(9)}` });
  const often = await add({ text: `${'gauge '.repeat(9)} ${rest(11)}` });
  const once = await add({ text: `gauge ${rest(19)}` });
  for (let n = 0; n < 20; n++) await add({ text: rest(20) });
  const found = await searchItemIds(hub.database.reader, {
    workspaceId,
    terms: ['gauges'],
    includeSuperseded: false,
    limit: 10,
  });
  assert.deepEqual(found, [titled, short, once, often], 'of equal matches the later comes first');
});
