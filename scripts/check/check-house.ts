// The limits of the house style that no linter of ours knows: names of files, long lines that the
// formatter cannot break, tests that are skipped without a word. Lines of a file and of a function
// and their complexity are Biome's (biome.json).
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Finding } from './check-imports.ts';
import { codeFolders, listFiles } from './source-files.ts';
import { findTestMarks } from './test-marks.ts';

/** Columns of a comment. Code is broken at 100 by the formatter wherever it can be broken. */
const commentMax = 100;
/** What the formatter leaves longer is a sentence in a string; splitting it reads worse. */
const lineMax = 120;
/** Words that say nothing about what is in a file. */
const emptyWords = new Set(
  (
    'task tasks worker workers runner runners manager managers service services util utils ' +
    'utility utilities helper helpers common impl misc'
  ).split(' '),
);
/** Terms that hold such a word and mean something by it. */
const properTerms = /service-principals?|common-passwords/g;
/** A word this long (an address, a hash, an expression to match) cannot be broken. */
const longWord = /\S{60}/;
/** Class lists and drawings of the console are strings that cannot be broken either. */
const longLiteral = /(["'`])[^"'`]{60,}\1/;
/** Words that promise work; in a comment they need the number of an issue. */
const promises = ['TODO', 'FIXME', 'XXX'].join('|');
const openPromise = new RegExp(`(?://|\\*).*\\b(?:${promises})\\b(?!.*#\\d)`);

/** Every breach of the house style under `root` that this file knows of. */
export function checkHouse(root: string): Finding[] {
  const files = codeFolders.flatMap((folder) =>
    listFiles(root, folder, ['.ts', '.tsx', '.mjs', '.css']),
  );
  return files.flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    const marks = /\.test\.tsx?$/.test(file) ? findTestMarks(file, source) : [];
    return [...checkName(file), ...checkLines(file, source), ...marks];
  });
}

function checkName(file: string): Finding[] {
  const words = file.toLowerCase().replace(properTerms, '').split(/[/.-]/);
  const messages = words
    .filter((word) => emptyWords.has(word))
    .map((word) => `"${word}" in a name says nothing: name what the file holds`);
  if (/\.spec\.tsx?$/.test(file)) messages.push('tests end in .test.ts');
  if (/\.test\.tsx?$/.test(file) && !/(^e2e|\/test)\//.test(file)) {
    messages.push('tests live in test/ of their package, or in e2e/');
  }
  if (!/^[a-z0-9.-]+$/.test(basename(file))) messages.push('file names are kebab-case');
  return messages.map((message) => ({ file, line: 1, message }));
}

function checkLines(file: string, source: string): Finding[] {
  const findings: Finding[] = [];
  for (const [index, text] of source.split('\n').entries()) {
    const line = index + 1;
    const max = /^\s*(?:\/\/|\/?\*)/.test(text) ? commentMax : lineMax;
    if (text.length > max && !isUnbreakable(file, text)) {
      findings.push({ file, line, message: `${text.length} columns, ${max} at most` });
    }
    if (openPromise.test(text)) {
      findings.push({
        file,
        line,
        message: 'a promise of work needs the number of its issue (#1)',
      });
    }
  }
  return findings;
}

function isUnbreakable(file: string, text: string): boolean {
  if (longWord.test(text)) return true;
  return file.startsWith('packages/console/') && longLiteral.test(text);
}
