// The coding tool of the demo: a script that plays one, so that the demo needs no model and no key.
// It is called like a real one: in the job's worktree, with the prompt on standard input. It can do
// one thing, add a page that lists the repository's folders, and it checks and commits what it did.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const pageDefault = 'docs/folders.md';

const prompt = readFileSync(0, 'utf8');
say('I am a scripted stand-in, not a model.');
say(`Reading the prompt: ${prompt.trim().split('\n')[0] ?? ''}`);
const page = /[\w./-]+\.md/.exec(prompt)?.[0] ?? pageDefault;
if (page.startsWith('/') || page.split('/').includes('..')) {
  say(`${page} is outside the repository; nothing is done.`);
  process.exit(1);
}

const folders = countFiles();
say(`Found ${folders.size} folders; writing ${page}`);
mkdirSync(dirname(page), { recursive: true });
writeFileSync(page, pageText(folders));

say('Checking that no folder is missing');
const written = readFileSync(page, 'utf8');
const missing = [...folders.keys()].filter((folder) => !written.includes(`\`${folder}/\``));
if (missing.length > 0) {
  say(`Missing: ${missing.join(', ')}`);
  process.exit(1);
}

git('add', '--', page);
git('commit', '--quiet', '--message', `List the folders of the repository in ${page}`);
say(`Committed ${git('rev-parse', '--short', 'HEAD').trim()}`);
sayResult(`Added ${page}, which names ${folders.size} folders; none is missing.`);

/** Tracked files by the top-level folder that they are in. */
function countFiles(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of git('ls-files', '-z').split('\0')) {
    const [folder, rest] = path.split(/\/(.*)/s);
    if (folder === undefined || rest === undefined) continue;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}

function pageText(counts: ReadonlyMap<string, number>): string {
  const lines = [...counts].map(
    ([folder, count]) => `- \`${folder}/\`: ${count} ${count === 1 ? 'file' : 'files'}`,
  );
  return `# Folders of this repository\n\n${lines.join('\n')}\n`;
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' });
}

/** The tool's report of its work, if an agent asks for it. */
function sayResult(message: string): void {
  const file = process.env.SIGNALBOX_RESULT_FILE;
  if (file !== undefined) writeFileSync(file, JSON.stringify({ outcome: 'done', message }));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
