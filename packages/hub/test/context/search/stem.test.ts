import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { stemOf } from '../../../src/context/search/stem.ts';
import { termsOf } from '../../../src/context/search/terms.ts';

/** The marks that search-sqlite.ts puts around words. */
const mark = '4294967295q';

/** The stems of FTS5, for words in its form: letters and digits, lower case. */
function openFts5() {
  const db = new DatabaseSync(':memory:');
  db.exec(`CREATE VIRTUAL TABLE words USING fts5 (word, tokenize = 'porter ascii');
    CREATE VIRTUAL TABLE stems USING fts5vocab (words, instance)`);
  const insert = db.prepare('INSERT INTO words (rowid, word) VALUES (1, ?)');
  const read = db.prepare('SELECT term FROM stems');
  return (word: string): string => {
    insert.run(mark + word);
    const rows = read.all() as { term: string }[];
    db.exec('DELETE FROM words');
    assert.equal(rows.length, 1, word);
    return rows[0]?.term.slice(mark.length) ?? '';
  };
}

const stemInFts5 = openFts5();

test('the words of the project’s own documents have the stems that FTS5 gives them', () => {
  const docs = join(import.meta.dirname, '../../../../../docs');
  const words = new Set(
    readdirSync(docs, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) => termsOf(readFileSync(join(docs, name), 'utf8'), 100_000)),
  );
  assert.ok(words.size > 1_000, `${words.size} words`);
  for (const word of words) assert.equal(stemOf(word), stemInFts5(word), word);
});

test('any word has the stem that FTS5 gives it', () => {
  const endings = (
    'ed eed ing s es ies sses ss y e ll l at bl iz ational tional enci anci izer logi bli alli ' +
    'entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti biliti ical ness ' +
    'icate iciti ful ative alize al ance ence er ic able ible ant ement ment ent sion tion ion ou ' +
    'ism ate iti ous ive ize'
  ).split(' ');
  const letters = fc.string({ unit: fc.constantFrom(...'abceilnosttuvwxyz17жé'), maxLength: 7 });
  const word = fc
    .tuple(letters, fc.array(fc.constantFrom(...endings), { maxLength: 3 }))
    .map(([beginning, ends]) => beginning + ends.join(''))
    .filter((text) => text !== '' && text.length <= 40);
  fc.assert(
    fc.property(word, (text) => assert.equal(stemOf(text), stemInFts5(text))),
    { numRuns: 5_000 },
  );
});

test('a word too long to be stemmed is kept unchanged', () => {
  const word = `${'x'.repeat(52)}ing`;
  assert.equal(stemOf(word), word);
  assert.equal(stemInFts5(word), word);
});
