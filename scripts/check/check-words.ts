import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from './check-imports.ts';
import { codeFolders, listDocuments, listFiles } from './source-files.ts';

/**
 * Words that the house style retired, each with what to write instead. They are looked for in
 * comments, strings and documents alike, because a message or the name of a test is read as well.
 */
const retired: readonly (readonly [word: RegExp, instead: string])[] = [
  // `nobody` in quotes is a user of the operating system.
  [/(?<![`"'^])\bnobody\b(?![`"':])/i, 'name who does not, or use the passive'],
  [/\bwhoever\b/i, 'name who: the caller, the agent, the person'],
  [/\bwhatever\b/i, 'name what: everything that, any, regardless of'],
  [/\banew\b/i, 'again'],
  [/\bgoes on\b|\bgo on\b|\bgoing on\b|\bwent on\b/i, 'continue, or in progress'],
  [/\bis none\b|\bare none\b|\bthere is none\b/i, 'say what is missing: has no …, does not exist'],
  [/\bstands? (?:in|for|under|beside)\b/i, 'is in, is stored in, represents'],
  [/\b(?:is|are|was|were) away\b/i, 'unavailable'],
  [/\b(?:she|her|hers|herself)\b/i, 'they, their'],
  [/\bnouns?\b/i, 'module'],
  [/\bof its own accord\b|\bby the way of\b/i, 'say it plainly'],
];

/** A comment that begins with this is a riddle: it describes the thing without its name. */
const riddle = /^\s*(?:\/\*\*|\/\/|\*)\s+What\b(?!.*\?)/;

/** Files whose words are data, each with its reason. */
const exempt: Readonly<Record<string, string>> = {
  'docs/reference/specification.md': 'a given text',
  'packages/hub/src/context/search/terms.ts': 'a list of stop words',
  'packages/hub/src/people/common-passwords.ts': 'a list of passwords',
  'scripts/check/check-words.ts': 'the list itself',
  'scripts/check/test/rules.test.ts': 'its examples',
};

/** Finds the retired words in all code and documents of the project. */
export function checkAllWords(root: string): Finding[] {
  const code = codeFolders.flatMap((folder) => listFiles(root, folder, ['.ts', '.tsx', '.mjs']));
  return [...code, ...listDocuments(root)]
    .filter((file) => !(file in exempt))
    .flatMap((file) => checkWords(file, readFileSync(join(root, file), 'utf8')));
}

/** Finds the lines of a text with a retired word. */
export function checkWords(file: string, source: string): Finding[] {
  const findings: Finding[] = [];
  for (const [index, text] of source.split('\n').entries()) {
    const line = index + 1;
    for (const [word, instead] of retired) {
      const found = word.exec(text)?.[0];
      if (found === undefined) continue;
      findings.push({ file, line, message: `"${found}" is retired: ${instead}` });
    }
    if (riddle.test(text)) {
      const message = 'a comment begins with the noun or verb, not with "What"';
      findings.push({ file, line, message });
    }
  }
  return findings;
}
