/** Calls of git by the agent, after a tool has had the repository. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  commitLeftovers,
  findInChanges,
  importCommits,
  listDifferences,
  readChanges,
} from '../../src/git/git-evidence.ts';
import { type Mirror, refreshMirror } from '../../src/git/git-mirror.ts';
import { createWorktree, publishBranch, type Worktree } from '../../src/git/git-worktree.ts';
import { countLines, makePatch } from '../../src/git/shared-changes.ts';
import { openToolRepository } from '../../src/git/tool-repository.ts';
import { git, makeRepository, repoId } from '../support/harness.ts';

interface Place {
  directory: string;
  /** The person's. */
  globalConfig: string;
  mirror: Mirror;
  worktree: Worktree;
  /** Runs a command as the tool. */
  runTool(command: string): void;
}

/** A job's repository, as a tool finds it, and a person with an own configuration of git. */
async function setup(t: TestContext, settings: readonly string[][] = []): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-git-'));
  const before = { ...process.env };
  t.after(() => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, before);
    rmSync(directory, { recursive: true, force: true });
  });
  process.env.HOME = directory;
  delete process.env.XDG_CONFIG_HOME;
  const globalConfig = join(directory, '.gitconfig');
  const clonePath = join(directory, 'clone');
  await makeRepository(clonePath);
  for (const setting of settings) git(directory, 'config', '--file', globalConfig, ...setting);
  const mirror = { gitDir: join(directory, 'mirror.git'), clonePath };
  const { sha: baseSha } = await refreshMirror(mirror, { repoId, path: clonePath }, null);
  const path = join(directory, 'worktree');
  const evidenceDir = join(directory, 'evidence.git');
  const branch = 'signalbox/job';
  const worktree = { path, evidenceDir, branch, baseSha, mirror, user: null };
  await createWorktree(worktree);
  const runTool = (command: string) => {
    execFileSync('/bin/sh', ['-ec', command], { cwd: path, env: process.env });
  };
  return { directory, globalConfig, mirror, worktree, runTool };
}

/** Everything that the agent asks git after a tool. */
async function finish({ worktree, mirror }: Place): Promise<string> {
  const { baseSha } = worktree;
  const repository = await openToolRepository(worktree);
  const changes = await readChanges(repository);
  assert.notEqual(await findInChanges(repository, changes, () => false), null);
  const job = { jobId: 'job_1', prompt: 'Change it' };
  const commitSha = await commitLeftovers(repository, changes, job);
  await importCommits(repository, commitSha);
  await publishBranch(worktree, commitSha);
  await listDifferences(worktree, commitSha);
  await countLines({ mirror, baseSha, commitSha });
  await makePatch({ mirror, baseSha, commitSha }, { redact: (text) => text, finds: () => false });
  return commitSha;
}

interface Call {
  args: string[];
  env: Readonly<Record<string, string>>;
}

/** Puts a git before the real one that records its calls. */
function recordCalls({ directory }: Place): () => Call[] {
  const programs = join(directory, 'programs');
  const calls = join(directory, 'calls');
  for (const folder of [programs, calls]) mkdirSync(folder);
  const real = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  writeFileSync(
    join(programs, 'git'),
    `#!/bin/sh
printf '%s\\0' "$@" > ${calls}/$$.args
env -0 > ${calls}/$$.env
exec ${real} "$@"
`,
    { mode: 0o755 },
  );
  process.env.PATH = `${programs}:${process.env.PATH}`;
  const partsOf = (name: string) =>
    readFileSync(join(calls, name), 'utf8').split('\0').slice(0, -1);
  return () =>
    readdirSync(calls)
      .filter((name) => name.endsWith('.args'))
      .map((name) => {
        const pairs = partsOf(name.replace('.args', '.env')).map((pair): [string, string] => {
          const at = pair.indexOf('=');
          return [pair.slice(0, at), pair.slice(at + 1)];
        });
        return { args: partsOf(name), env: Object.fromEntries(pairs) };
      });
}

/** The settings that a call gives to git itself, which win against every file. */
function settingsOf({ args, env }: Call): Record<string, string> {
  const ofEnvironment = Array.from({ length: Number(env.GIT_CONFIG_COUNT ?? 0) }, (_, at) => [
    env[`GIT_CONFIG_KEY_${at}`],
    env[`GIT_CONFIG_VALUE_${at}`],
  ]);
  const ofLine = args.flatMap((arg, at) => {
    const [name, value] = args[at + 1]?.split('=') ?? [];
    return arg === '-c' ? [[name, value]] : [];
  });
  return Object.fromEntries([...ofEnvironment, ...ofLine]);
}

test('after a tool, each call of git names its repository and reads no configuration of a person', async (t) => {
  const place = await setup(t);
  const { mirror, worktree } = place;
  place.runTool('echo changed >> README.md; echo new > new.txt');
  const callsOf = recordCalls(place);
  const elsewhere = join(place.directory, 'elsewhere');
  // As a hook of git would start the agent, and with the agent's own settings.
  Object.assign(process.env, {
    GIT_DIR: elsewhere,
    GIT_INDEX_FILE: elsewhere,
    GIT_OBJECT_DIRECTORY: elsewhere,
    SIGNALBOX_TOKEN: 'sbx_s_secret',
    SVC_SECRET_KEY: 'secret',
  });
  await finish(place);
  const calls = callsOf();
  assert.ok(calls.length > 10, `${calls.length} calls`);
  for (const call of calls) {
    const { args, env } = call;
    const what = args.join(' ');
    const places = [`--git-dir=${mirror.gitDir}`, mirror.clonePath];
    if (env.GIT_DIR === undefined) {
      assert.ok(
        places.some((each) => args.includes(each)),
        what,
      );
    } else {
      assert.equal(env.GIT_DIR, worktree.evidenceDir, what);
      assert.equal(env.GIT_WORK_TREE, worktree.path, what);
    }
    assert.doesNotMatch(JSON.stringify(env), /elsewhere|secret/, what);
    assert.equal(env.GIT_CONFIG_GLOBAL, '/dev/null', what);
    assert.equal(env.GIT_CONFIG_NOSYSTEM, '1', what);
    assert.equal(env.GIT_ATTR_NOSYSTEM, '1', what);
    const settings = settingsOf(call);
    assert.equal(settings['core.hooksPath'], '/dev/null', what);
    assert.equal(settings['core.pager'], 'cat', what);
    for (const name of ['core.fsmonitor', 'submodule.recurse', 'commit.gpgSign']) {
      assert.equal(settings[name], 'false', `${name}: ${what}`);
    }
    if (args.includes('-p') && args.includes('diff-tree')) {
      for (const flag of ['--no-ext-diff', '--no-textconv']) assert.ok(args.includes(flag), what);
    }
    if (env.GIT_DIR === undefined) continue;
    // Of the tool's objects only those count that are named by their content.
    const caches = ['core.commitGraph', 'core.multiPackIndex', 'core.untrackedCache'];
    for (const name of [...caches, 'pack.useBitmaps']) {
      assert.equal(settings[name], 'false', `${name}: ${what}`);
    }
    assert.equal(env.GIT_NO_REPLACE_OBJECTS, '1', what);
    assert.equal(env.GIT_NO_LAZY_FETCH, '1', what);
  }
});

test('of a person’s configuration, the agent keeps filters and the forms of files, read before the tool', async (t) => {
  const place = await setup(t, [
    ['filter.own.clean', 'cat'],
    ['core.autocrlf', 'input'],
    ['core.fsmonitor', '/bin/false'],
    ['core.sshCommand', '/bin/false'],
    ['diff.external', '/bin/false'],
    ['core.attributesFile', '/tmp/attributes'],
  ]);
  const { evidenceDir } = place.worktree;
  const listed = git(place.directory, 'config', '--file', `${evidenceDir}/config`, '--list');
  const settings = listed.split('\n').filter((line) => !line.startsWith('core.repositoryformat'));
  assert.deepEqual(settings.sort(), [
    'core.attributesfile=/dev/null',
    'core.autocrlf=input',
    'core.bare=false',
    `core.excludesfile=${place.directory}/.config/git/ignore`,
    'core.filemode=true',
    'filter.own.clean=cat',
    'user.email=ada@example.test',
    'user.name=Ada Person',
  ]);
});

test('programs that a tool puts into configurations, hooks and attributes do not run', async (t) => {
  const place = await setup(t);
  const ran = join(place.directory, 'ran');
  const program = join(place.directory, 'program');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`, { mode: 0o755 });
  const names = [
    ...['core.fsmonitor', 'core.sshCommand', 'core.pager', 'gpg.program', 'diff.external'],
    ...['core.alternateRefsCommand', 'uploadpack.packObjectsHook', 'filter.evil.clean'],
    ...['filter.evil.smudge', 'diff.evil.textconv', 'diff.evil.command'],
  ];
  const poison = (where: string) =>
    names.map((name) => `git config ${where} ${name} ${program}`).join('\n');
  place.runTool(
    `
    git init --quiet nested; git -C nested config core.fsmonitor ${program}; echo a > nested/a
    for hook in pre-commit post-checkout reference-transaction post-index-change; do
      mkdir -p .git/hooks hooks; cp ${program} .git/hooks/$hook; cp ${program} hooks/$hook
    done
    mkdir -p .git/info
    echo '* filter=evil diff=evil' | tee .gitattributes .git/info/attributes > ../attributes
    echo changed >> README.md
    ${poison('--local')}
    ${poison('--global')}
    git config --global core.hooksPath "$PWD/hooks"
    git config --global core.attributesFile "$PWD/../attributes"
    git config --global commit.gpgSign true`,
  );
  rmSync(ran, { force: true });
  const commitSha = await finish(place);
  assert.throws(() => readFileSync(ran), { code: 'ENOENT' });
  const show = ['-c', 'diff.external=', 'show', `${commitSha}:README.md`];
  rmSync(place.globalConfig);
  assert.equal(git(place.mirror.clonePath, ...show), 'hello\nchanged');
});

const forgeries = {
  'an object whose content is not that of its name': `
    echo new > new.txt; git add new.txt; git commit --quiet -m new
    fileOf() { echo ".git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-)"; }
    cp -f "$(fileOf $(echo other | git hash-object -w --stdin))" "$(fileOf $(git rev-parse HEAD:new.txt))"`,
  'a file that git would write into its own directory': `
    tree=$(git cat-file tree HEAD^{tree} | LC_ALL=C sed 's/README.md/.git/' |
      git hash-object -t tree -w --literally --stdin)
    echo "$(git commit-tree -m forged -p HEAD $tree)" > .git/HEAD`,
} as const;
for (const [name, script] of Object.entries(forgeries)) {
  test(`a commit with ${name} reaches neither the mirror nor the clone`, async (t) => {
    const place = await setup(t);
    const { mirror, worktree } = place;
    place.runTool(script);
    await assert.rejects(finish(place), /The commits cannot be read/);
    const branches = git(mirror.clonePath, 'branch', '--list', 'signalbox/*');
    assert.equal(branches, '');
    const inMirror = git(
      mirror.clonePath,
      `--git-dir=${mirror.gitDir}`,
      'rev-parse',
      worktree.branch,
    );
    assert.equal(inMirror, worktree.baseSha);
  });
}

test('a forged list of commits has no effect on what counts as changed', async (t) => {
  const place = await setup(t);
  const { worktree } = place;
  place.runTool('echo new > new.txt; git add new.txt; git commit --quiet -m new');
  const treeOf = (name: string) =>
    Buffer.from(git(worktree.path, 'rev-parse', `${name}^{tree}`), 'hex');
  const [before, now] = [treeOf(worktree.baseSha), treeOf('HEAD')];
  place.runTool('git commit-graph write --reachable');
  const list = join(worktree.path, '.git/objects/info/commit-graph');
  const bytes = readFileSync(list);
  const at = bytes.indexOf(now);
  assert.ok(at > 0, 'the list has the tree of the commit');
  before.copy(bytes, at);
  rmSync(list);
  writeFileSync(list, bytes);
  const repository = await openToolRepository(worktree);
  assert.equal((await readChanges(repository)).hasLeftovers, false);
});

test('a file that the tool has staged is in the commit, although git ignores it', async (t) => {
  const place = await setup(t);
  place.runTool('echo kept > .gitignore; echo yes > kept; git add --force kept');
  const commitSha = await finish(place);
  assert.equal(git(place.mirror.clonePath, 'show', `${commitSha}:kept`), 'yes');
});

test('a file that the tool has marked as unchanged differs all the same', async (t) => {
  const { runTool, worktree } = await setup(t);
  runTool('git update-index --assume-unchanged README.md; echo changed >> README.md');
  assert.deepEqual(await listDifferences(worktree, worktree.baseSha), ['README.md']);
});

test('changes count although the tool has removed the link to the objects of the mirror', async (t) => {
  const place = await setup(t);
  place.runTool('echo changed >> README.md; rm .git/objects/info/alternates');
  const commitSha = await finish(place);
  assert.equal(git(place.mirror.clonePath, 'show', `${commitSha}:README.md`), 'hello\nchanged');
});

test('the clone gets the commit of the evidence, also when the branch of the mirror has moved', async (t) => {
  const place = await setup(t);
  const { mirror, worktree } = place;
  place.runTool('echo new > new.txt; git add new.txt; git commit --quiet -m new');
  const repository = await openToolRepository(worktree);
  const { headSha } = repository;
  await importCommits(repository, headSha);
  const ref = `refs/heads/${worktree.branch}`;
  git(place.directory, `--git-dir=${mirror.gitDir}`, 'update-ref', ref, worktree.baseSha);
  await publishBranch(worktree, headSha);
  assert.equal(git(mirror.clonePath, 'rev-parse', ref), headSha);
  assert.equal(git(mirror.clonePath, 'show', `${ref}:new.txt`), 'new');
});

test('a commit that the mirror does not have reaches no clone', async (t) => {
  const { worktree, mirror } = await setup(t);
  await assert.rejects(publishBranch(worktree, '1'.repeat(40)), { name: 'GitError' });
  assert.equal(git(mirror.clonePath, 'branch', '--list', worktree.branch), '');
});

const lostHeads = {
  'names a file outside of the repository': [
    `git rev-parse HEAD > ../outside; echo 'ref: refs/../../../outside' > .git/HEAD`,
    /left no commit checked out/,
  ],
  'has a part of an id': [
    'git rev-parse HEAD | cut -c1-12 > .git/short; mv .git/short .git/HEAD',
    /left no commit checked out/,
  ],
  'names no object': [
    'echo 1111111111111111111111111111111111111111 > .git/HEAD',
    /left 1{40}, which is no commit/,
  ],
} as const;
for (const [name, [script, message]] of Object.entries(lostHeads)) {
  test(`a HEAD that ${name} is refused`, async (t) => {
    const place = await setup(t);
    place.runTool(script);
    const read = async () => readChanges(await openToolRepository(place.worktree));
    await assert.rejects(read, message);
  });
}

/** Everything below a folder: its names, and the content of its files. */
function contentOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const file = join(folder, name);
    return [name, lstatSync(file).isFile() ? readFileSync(file, 'latin1') : ''];
  });
  return Object.fromEntries(entries);
}

test('reading what a tool has left writes nothing below its worktree', async (t) => {
  const place = await setup(t);
  place.runTool('echo a > a; git add a; git commit -qm a; echo b > b; echo c >> README.md');
  const before = contentOf(place.worktree.path);
  const commitSha = await finish(place);
  assert.deepEqual(contentOf(place.worktree.path), before);
  assert.equal(git(place.mirror.clonePath, 'show', `${commitSha}:b`), 'b');
});

/** A pipe has no reader here, so a call that waits for one would not end. */
const limit = { timeout: 60_000 };
/** Replacements of parts of a repository by a tool, and the words of the refusal. */
const traps: Readonly<Record<string, readonly [script: string, why: RegExp]>> = {
  'a link to the clone as .git': ['rm -rf .git; ln -s ../clone/.git .git', /: \.git is no folder/],
  'a link to a folder as objects': [
    'mv .git/objects ../outside/objects; ln -s ../../outside/objects .git/objects',
    /: \.git\/objects is no folder/,
  ],
  'a link to a folder among its objects': [
    'rm -rf .git/objects/pack; ln -s "$PWD/../outside" .git/objects/pack',
    /\.git\/objects\/pack of the worktree is not a regular file/,
  ],
  'a link to a folder as refs': [
    'mv .git/refs ../outside/refs; ln -s ../../outside/refs .git/refs',
    /: \.git\/refs is no folder/,
  ],
  'a link to a folder of refs': [
    'mv .git/refs/heads ../outside/heads; ln -s ../../../outside/heads .git/refs/heads',
    /\.git\/refs\/heads\/signalbox\/job of the worktree: .* is a link/,
  ],
  'a link to nothing as index': [
    'rm .git/index; ln -s "$PWD/../outside/new" .git/index',
    /\.git\/index of the worktree: .* it is a link/,
  ],
  'the objects of another repository': [
    `git init -q ../outside/o; git -C ../outside/o -c user.name=x -c user.email=x@x commit -q --allow-empty -m secret
     echo "$PWD/../outside/o/.git/objects" >> .git/objects/info/alternates
     git -C ../outside/o rev-parse HEAD > .git/HEAD`,
    /alternates was changed/,
  ],
  'a pipe as index': ['rm .git/index; mkfifo .git/index', /\.git\/index .* not a regular file/],
  'a pipe among its objects': ['mkfifo .git/objects/00', /objects\/00 .* not a regular file/],
  'a pipe as .gitignore': ['mkdir a; mkfifo a/.gitignore', /^a\/\.gitignore of the worktree/],
  'a pipe as .gitattributes': ['mkfifo .gitattributes', /^\.gitattributes of the worktree/],
  'a pipe as HEAD of a nested repository': [
    'git init -q nested; rm nested/.git/HEAD; mkfifo nested/.git/HEAD',
    /^nested\/\.git\/HEAD of the worktree is not/,
  ],
  'a folder as index': ['rm .git/index; mkdir .git/index', /\.git\/index .* not a regular file/],
};
for (const [name, [script, why]] of Object.entries(traps)) {
  test(`a worktree with ${name} is refused, and nothing outside changes`, limit, async (t) => {
    const place = await setup(t);
    const outside = join(place.directory, 'outside');
    mkdirSync(outside);
    place.runTool(`echo evil > evil; ${script}`);
    const folders = [outside, place.mirror.clonePath, place.mirror.gitDir];
    const before = folders.map(contentOf);
    await assert.rejects(finish(place), (error) => {
      assert.equal((error as Error).name, 'GitError');
      assert.match((error as Error).message, why);
      return true;
    });
    assert.deepEqual(folders.map(contentOf), before);
  });
}

test('settings with quotes, backslashes and line ends reach tool and evidence as they are', async (t) => {
  const odd = ' Ada "the \\ first"\n; # a comment\t';
  const program = 'sed "s/a\\\\b/c/" # "x"';
  const place = await setup(t, [['filter.a "b" \\ .c.clean', program]]);
  const { worktree, mirror } = place;
  git(mirror.clonePath, 'config', 'user.name', odd);
  const settings = { repoId, path: mirror.clonePath };
  const again = {
    ...worktree,
    branch: 'signalbox/again',
    path: join(place.directory, 'again'),
    evidenceDir: join(place.directory, 'again.git'),
    baseSha: (await refreshMirror(mirror, settings, null)).sha,
  };
  await createWorktree(again);
  const read = (file: string, name: string) =>
    execFileSync('git', ['config', '--file', file, '--null', name], { encoding: 'utf8' });
  assert.equal(read(join(again.path, '.git/config'), 'user.name'), `${odd}\0`);
  assert.equal(read(join(again.evidenceDir, 'config'), 'user.name'), `${odd}\0`);
  const filter = 'filter.a "b" \\ .c.clean';
  assert.equal(read(join(again.evidenceDir, 'config'), filter), `${program}\0`);
  assert.equal(git(again.path, 'status', '--porcelain', '--branch'), '## signalbox/again');
});
