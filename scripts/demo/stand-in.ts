// The coding tool of the demo: a script that plays one, so that the demo needs no model and no key.
// It is called like a real one: in the job's worktree, with the prompt on standard input. It can do
// one thing, add a page that lists the folders of the repository, and checks and commits it.
// With a folder for its sessions, it asks where the page belongs, and continues a session by id.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const pageDefault = 'docs/folders.md';

const [sessions, sessionId] = process.argv.slice(2);
const prompt = readFileSync(0, 'utf8');
say('I am a scripted stand-in, not a model.');
const page = sessions === undefined ? readPrompt() : askForPage(sessions, sessionId);
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

function readPrompt(): string {
  say(`Reading the prompt: ${prompt.trim().split('\n')[0] ?? ''}`);
  return /[\w./-]+\.md/.exec(prompt)?.[0] ?? pageDefault;
}

/** Asks a person by `signalbox ask`, in a new session or the one that was interrupted. */
function askForPage(folder: string, id = randomBytes(4).toString('hex')): string {
  const file = join(folder, id);
  const isKnown = existsSync(file);
  say(`Session ${id} ${isKnown ? `continues: ${readFileSync(file, 'utf8')}` : 'begins'}`);
  writeFileSync(file, 'I had asked where the page belongs.');
  const main = join(import.meta.dirname, '../../packages/cli/src/main.ts');
  const options = [pageDefault, 'FOLDERS.md'].flatMap((path) => ['--option', path]);
  const words = ['Where does the page belong?', ...options, '--recommend', pageDefault];
  const args = [main, 'ask', ...words];
  const asked = spawnSync(process.execPath, args, { encoding: 'utf8' });
  // Without an answer the job waits for it, blocked.
  if (asked.status !== 0) process.exit(asked.status ?? 1);
  say(`The answer: ${asked.stdout.trim()}`);
  return asked.stdout.trim();
}

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
