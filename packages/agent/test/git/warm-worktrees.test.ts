// Nothing that a tool leaves in a worktree reaches the next job that gets its files.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { type Mirror, refreshMirror } from '../../src/git/git-mirror.ts';
import { createWorktree, type Worktree } from '../../src/git/git-worktree.ts';
import {
  keepWarm,
  removeWarm,
  setAside,
  type WarmWorktrees,
} from '../../src/git/warm-worktrees.ts';
import { git, makeRepository, repoId } from '../support/harness.ts';

const isLinux = process.platform === 'linux';

/** A person's configuration by which git would miss changes, or put its index into the tool's. */
const home = mkdtempSync(join(tmpdir(), 'signalbox-warm-home-'));
writeFileSync(
  join(home, '.gitconfig'),
  '[core]\n\ttrustctime = false\n\tcheckStat = minimal\n\tsplitIndex = true\n',
);
const environment = { ...process.env };
process.env.HOME = home;
delete process.env.XDG_CONFIG_HOME;
after(() => {
  for (const name of ['HOME', 'XDG_CONFIG_HOME']) {
    if (environment[name] === undefined) delete process.env[name];
    else process.env[name] = environment[name];
  }
  rmSync(home, { recursive: true, force: true });
});

interface Place {
  directory: string;
  mirror: Mirror;
  warm: WarmWorktrees;
  /** Makes the worktree of the next job. */
  begin(): Promise<Worktree>;
  /** Ends a job: its files are kept, or deleted. */
  end(worktree: Worktree): Promise<void>;
  /** The worktrees that are kept. */
  kept(): string[];
}

async function setup(t: TestContext): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-warm-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const clonePath = join(directory, 'clone');
  await makeRepository(clonePath);
  const text = `
    mkdir -p src/deep other; echo one > src/one.ts; echo two > src/deep/two.ts; echo x > other/x
    echo node_modules > .gitignore; ln -s one.ts src/link; printf '#!/bin/sh\\n' > run; chmod +x run
    printf x > "$(printf 'other/\\303\\244 \\377')"
    git add .; git commit -qm More`;
  execFileSync('/bin/sh', ['-ec', text], { cwd: clonePath });
  const mirror = { gitDir: join(directory, 'mirror.git'), clonePath };
  const warm = { path: join(directory, 'warm'), max: 2 };
  let number = 0;
  return {
    directory,
    mirror,
    warm,
    async begin() {
      const job = `job-${++number}`;
      const { sha: baseSha } = await refreshMirror(mirror, { repoId, path: clonePath }, null);
      const path = join(directory, job);
      const evidenceDir = join(directory, `${job}.git`);
      const branch = `signalbox/${job}`;
      const worktree = { path, evidenceDir, branch, baseSha, mirror, user: null };
      return await createWorktree(worktree, warm);
    },
    async end(worktree) {
      const aside = await setAside(warm, { path: worktree.path, gitDir: worktree.evidenceDir });
      if (aside !== null) await keepWarm(warm, aside);
    },
    kept: () => (existsSync(warm.path) ? readdirSync(warm.path) : []),
  };
}

function runTool({ path }: Worktree, command: string): void {
  execFileSync('/bin/bash', ['-ec', command], { cwd: path });
}

/** The number of the file on its disk: it stays the same when the file is not written again. */
function inodeOf({ path }: Worktree, name: string): number {
  return lstatSync(join(path, name)).ino;
}

/** Asserts that a worktree is what a new clone would be. */
function assertPristine({ mirror }: Place, { path, baseSha, branch }: Worktree): void {
  assert.equal(git(path, 'status', '--porcelain', '--ignored', '--branch'), `## ${branch}`);
  const fresh = mkdtempSync(`${path}-fresh-`);
  git(mirror.clonePath, 'worktree', 'add', '--quiet', '--detach', fresh, baseSha);
  const list = (at: string) =>
    execFileSync('find', ['.', '-name', '.git', '-prune', '-o', '-printf', '%P %y %m %n %l\\n'], {
      cwd: at,
      encoding: 'latin1',
    })
      .split('\n')
      // Of the folder itself, whose mode is the agent's choice.
      .filter((line) => line !== '' && !line.startsWith(' '))
      .map((line) => line.replace(/ d (\d+) \d+/, ' d $1'))
      .sort();
  assert.deepEqual(list(path), list(fresh));
  execFileSync('diff', ['-r', '--no-dereference', '--exclude=.git', path, fresh]);
}

test('a worktree of a finished job is given out again, at the commit of the next job', {
  skip: !isLinux && 'worktrees are kept on Linux only',
}, async (t) => {
  const place = await setup(t);
  const first = await place.begin();
  const inode = inodeOf(first, 'src/one.ts');
  runTool(
    first,
    'echo changed >> README.md; rm other/x; echo new > new.txt; git add .; git commit -qm mine',
  );
  await place.end(first);
  assert.equal(place.kept().length, 1);
  writeFileSync(join(place.mirror.clonePath, 'other/x'), 'y\n');
  git(place.mirror.clonePath, 'rm', '-q', 'src/deep/two.ts');
  git(place.mirror.clonePath, 'commit', '--quiet', '--all', '-m', 'Next');
  const second = await place.begin();
  assert.equal(inodeOf(second, 'src/one.ts'), inode);
  assertPristine(place, second);
  assert.equal(readFileSync(join(second.path, 'other/x'), 'utf8'), 'y\n');
  assert.deepEqual(place.kept(), []);
});

test('no more worktrees are kept than allowed, and one that is deleted is not given out', async (t) => {
  const place = await setup(t);
  const jobs = [await place.begin(), await place.begin(), await place.begin()];
  for (const job of jobs) await place.end(job);
  assert.equal(place.kept().length, isLinux ? 2 : 0);
  for (const name of place.kept()) await removeWarm(join(place.warm.path, name));
  assert.deepEqual(place.kept(), []);
  assertPristine(place, await place.begin());
});

test('jobs that begin at once get different worktrees', async (t) => {
  const place = await setup(t);
  const jobs = [await place.begin(), await place.begin()];
  for (const job of jobs) await place.end(job);
  const next = await Promise.all([place.begin(), place.begin(), place.begin()]);
  for (const job of next) assertPristine(place, job);
});

/** Each leaves something for the next job; the files are kept, and clean. */
const attacks: Record<string, string> = {
  'an ignored executable':
    'mkdir -p node_modules/.bin; echo evil > node_modules/.bin/tsc; chmod +x node_modules/.bin/tsc',
  'an ignored file in a tracked folder':
    'mkdir -p src/node_modules; echo evil > src/node_modules/x',
  'a hook':
    'mkdir -p .git/hooks; cd .git/hooks; printf "#!/bin/sh\\ntouch ../pwned\\n" > post-checkout; ' +
    'chmod +x post-checkout',
  'a program as core.fsmonitor':
    'git config core.fsmonitor "touch ../pwned; false"; git config core.worktree /',
  'a filter with attributes':
    'git config filter.x.smudge "touch ../pwned; cat"; mkdir -p .git/info; ' +
    'echo "* filter=x" > .git/info/attributes; echo "* filter=x" > src/.gitattributes',
  'a changed file marked as skip-worktree':
    'echo evil > src/one.ts; git update-index --skip-worktree src/one.ts',
  'a changed file marked as unchanged':
    'git update-index --assume-unchanged src/one.ts; echo evil > src/one.ts',
  'a changed file with its old size and time':
    'touch -r src/one.ts ../time; echo 0ne > src/one.ts; touch -r ../time src/one.ts',
  'a sparse checkout': 'git sparse-checkout set --cone other',
  'a nested repository':
    'git init -q src/nested; git -C src/nested config core.fsmonitor "touch ../../../pwned"',
  'a repository in a tracked folder':
    'git init -q src; git -C src config core.fsmonitor "touch ../../pwned"',
  'a folder that is a link':
    'mkdir ../outside; echo precious > ../outside/one.ts; rm -r src; ln -s ../outside src',
  'a file that is a link': 'echo precious > ../precious; ln -sf ../precious src/one.ts',
  'a link that leads elsewhere': 'ln -sfn /etc/passwd src/link',
  'a folder as a file': 'rm src/one.ts; mkdir -p src/one.ts/x',
  'a file as a folder': 'rm -r src; echo x > src',
  'a second name of a file': 'ln src/one.ts ../second',
  'a folder that anybody may write to': 'chmod 777 src/deep',
  'an executable': 'chmod +x src/one.ts',
  'a pipe': 'rm src/one.ts; mkfifo src/one.ts; mkfifo src/deep/pipe',
  'odd names':
    'mkdir -p -- "src/-rf"; touch -- "src/-rf/-x" "src/a\nb" "-rf" "$(printf "src/\\377")"',
  'no files at all': 'rm -rf src other README.md .git',
};
for (const [what, command] of Object.entries(attacks)) {
  test(`a tool that leaves ${what} leaves nothing to the next job`, async (t) => {
    const place = await setup(t);
    const first = await place.begin();
    runTool(first, command);
    await place.end(first);
    assert.equal(place.kept().length, isLinux ? 1 : 0);
    const next = await place.begin();
    assertPristine(place, next);
    assert.ok(!existsSync(join(place.directory, 'pwned')));
    for (const name of ['precious', 'outside/one.ts']) {
      const file = join(place.directory, name);
      if (existsSync(file)) assert.equal(readFileSync(file, 'utf8'), 'precious\n');
    }
    // A write to the second name does not arrive.
    if (existsSync(join(place.directory, 'second'))) {
      writeFileSync(join(place.directory, 'second'), 'evil\n');
      assertPristine(place, next);
    }
  });
}

test('a tool that puts a link in the place of its worktree has none of its files kept', async (t) => {
  const place = await setup(t);
  const first = await place.begin();
  runTool(first, 'cd ..; mkdir outside; mv job-1 moved; ln -s moved job-1');
  await place.end(first);
  assert.deepEqual(place.kept(), []);
  assert.ok(existsSync(join(place.directory, 'moved/src/one.ts')));
});

/** Each keeps its hold of the worktree until its input ends. */
const holders: Record<string, string> = {
  'works in a folder': 'cd src; echo ready; read -r _',
  'has a file open for writing': 'exec 5>>src/one.ts; cd /; echo ready; read -r _',
  'has a folder open': 'exec 5<src; cd /; echo ready; read -r _',
};
for (const [what, command] of Object.entries(holders)) {
  test(`the files are not kept while a process ${what}`, async (t) => {
    const place = await setup(t);
    const first = await place.begin();
    const child = spawn('/bin/bash', ['-c', command], {
      cwd: first.path,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    await place.end(first);
    assert.deepEqual(place.kept(), []);
    child.stdin.end();
    await exited;
  });
}

test('a file that was changed while its worktree was kept is written again', async (t) => {
  const place = await setup(t);
  await place.end(await place.begin());
  const [name] = place.kept();
  if (name === undefined) return assert.ok(!isLinux);
  const path = join(place.warm.path, name, 'worktree');
  execFileSync('/bin/sh', ['-ec', 'echo 0ne > src/one.ts; rm other/x'], { cwd: path });
  assertPristine(place, await place.begin());
});

test('a commit with other attributes gets new files', async (t) => {
  const place = await setup(t);
  const first = await place.begin();
  const inode = inodeOf(first, 'src/one.ts');
  await place.end(first);
  writeFileSync(join(place.mirror.clonePath, 'src/.gitattributes'), '*.ts text eol=crlf\n');
  git(place.mirror.clonePath, 'add', '.');
  git(place.mirror.clonePath, 'commit', '--quiet', '-m', 'Attributes');
  const next = await place.begin();
  assert.notEqual(inodeOf(next, 'src/one.ts'), inode);
  assert.equal(readFileSync(join(next.path, 'src/one.ts'), 'utf8'), 'one\r\n');
});

test('the index of a new worktree is not newer than its files, so that no change is missed', async (t) => {
  const place = await setup(t);
  const worktree = await place.begin();
  const { mtimeMs } = statSync(join(worktree.path, '.git/index'));
  assert.ok(mtimeMs <= statSync(join(worktree.evidenceDir, 'index')).mtimeMs);
  assert.equal(readlinkSync(join(worktree.path, 'src/link')), 'one.ts');
});
