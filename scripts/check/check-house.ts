// Rules of the house style that no linter has: words of file names, long lines that the formatter
// cannot break, spreads of literals, statements of the hub that read `*`. Biome checks the rest.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from './check-imports.ts';
import { codeFolders, listFiles } from './source-files.ts';

/** Column limit of comments. The formatter breaks code at 100 wherever possible. */
const commentMax = 100;
/** Longer lines of formatted code contain a sentence in a string; splitting it reads worse. */
const lineMax = 120;
/** Words that say nothing about a file's content. */
const emptyWords = new Set(
  (
    'task tasks worker workers runner runners manager managers service services util utils ' +
    'utility utilities helper helpers common impl misc'
  ).split(' '),
);
/** Terms in which such a word has a specific meaning. */
const properTerms = /service-principals?|common-passwords/g;
/** A word this long (a URL, a hash, a regular expression) cannot be broken. */
const longWord = /\S{60}/;
/** Class lists and drawings of the console are also strings that cannot be broken. */
const longLiteral = /(["'`])[^"'`]{60,}\1/;
/** Words that promise work; in a comment they require an issue number. */
const promises = ['TODO', 'FIXME', 'XXX'].join('|');
const openPromise = new RegExp(`(?://|\\*).*\\b(?:${promises})\\b(?!.*#\\d)`);

/** A statement that reads all columns: it fails when a newer version adds one. */
const allColumns = /(?:\b(?:SELECT|RETURNING)\s+|\b\w+\.)\*(?=[\s,`']|$)|\.selectAll\(/;
/** It wraps statements, which name their columns. */
const wrapper = 'packages/hub/src/db/postgres/merged-statement.ts';

/** A spread of a literal within a literal puts several fields on one line. */
const spreadLiteral = /^\s*\.\.\.\{ /;

/** All violations of these rules under `root`. */
export function checkHouse(root: string): Finding[] {
  const files = codeFolders.flatMap((folder) =>
    listFiles(root, folder, ['.ts', '.tsx', '.mjs', '.css']),
  );
  return files.flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return [...checkName(file), ...checkLines(file, source)];
  });
}

function checkName(file: string): Finding[] {
  const words = file.toLowerCase().replace(properTerms, '').split(/[/.-]/);
  const messages = words
    .filter((word) => emptyWords.has(word))
    .map((word) => `"${word}" in a name says nothing: use a name that describes the content`);
  if (/\.spec\.tsx?$/.test(file)) messages.push('names of tests must end in .test.ts');
  if (/\.test\.tsx?$/.test(file) && !/(^e2e|\/test)\//.test(file)) {
    messages.push('tests must be in test/ of their package, or in e2e/');
  }
  return messages.map((message) => ({ file, line: 1, message }));
}

function checkLines(file: string, source: string): Finding[] {
  const findings: Finding[] = [];
  for (const [index, text] of source.split('\n').entries()) {
    const line = index + 1;
    const max = /^\s*(?:\/\/|\/?\*)/.test(text) ? commentMax : lineMax;
    if (text.length > max && !isUnbreakable(file, text)) {
      findings.push({ file, line, message: `${text.length} columns; the limit is ${max}` });
    }
    if (file.startsWith('packages/hub/src/') && file !== wrapper && readsAllColumns(text)) {
      const message = 'a statement must name its columns: db/schema/columns.ts has those of tables';
      findings.push({ file, line, message });
    }
    if (spreadLiteral.test(text)) {
      const message = 'a field of a literal has its own line: leave the spread out';
      findings.push({ file, line, message });
    }
    if (openPromise.test(text)) {
      findings.push({ file, line, message: 'promised work requires an issue number (#1)' });
    }
  }
  return findings;
}

function readsAllColumns(text: string): boolean {
  return allColumns.test(text) && !/^\s*(?:\/\/|\/?\*)/.test(text);
}

function isUnbreakable(file: string, text: string): boolean {
  if (longWord.test(text)) return true;
  return file.startsWith('packages/console/') && longLiteral.test(text);
}
