/** A coding tool that attacks its agent: the real command, a real hub, real git. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { commandFile, exitCodes } from '../src/index.ts';
import {
  clientOf,
  configFlag,
  enqueueJob,
  git,
  type HubPlace,
  linkClone,
  makeClone,
  type Running,
  startHub,
  useServiceToken,
} from './harness.ts';

const scriptedAcpTool = join(import.meta.dirname, '../../agent/test/support/acp-agent.ts');

const attacks = {
  'replace .git by a file that leads to another repository': `
    cp -r .git evil
    git config -f evil/config core.fsmonitor "$PWN"
    rm -rf .git
    echo "gitdir: $PWD/evil" > .git`,
  'put programs into every configuration that git reads': `
    poison() {
      for name in core.fsmonitor core.sshCommand core.pager core.editor gpg.program diff.external \\
        core.alternateRefsCommand uploadpack.packObjectsHook filter.evil.clean filter.evil.smudge \\
        filter.evil.process diff.evil.textconv diff.evil.command merge.evil.driver; do
        git config $1 "$name" "$PWN"
      done
      git config $1 commit.gpgSign true
      git config $1 core.hooksPath "$PWD/hooks"
      git config $1 core.attributesFile "$PWD/.gitattributes"
    }
    mkdir hooks
    for hook in pre-commit post-commit post-checkout reference-transaction post-index-change; do
      cp "$PWN" hooks/$hook; cp "$PWN" .git/hooks/$hook 2>/dev/null || true
    done
    git init --quiet nested
    (cd nested && echo a > a && git add a && git -c user.name=x -c user.email=x@x commit -qm a)
    echo '* filter=evil diff=evil merge=evil' > .gitattributes
    cp .gitattributes nested/.gitattributes
    mkdir -p .git/info && cp .gitattributes .git/info/attributes
    git add nested 2>/dev/null
    poison --global; poison --local; (cd nested && poison --local)
    echo b > nested/a; echo changed >> README.md`,
  'commit to nothing': `
    echo 1111111111111111111111111111111111111111 > .git/HEAD`,
  'commit without the objects': `
    echo new > new.txt; git add new.txt; git commit -qm new
    blob=$(git rev-parse HEAD:new.txt)
    rm -f ".git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-)"`,
  'make HEAD a pipe': 'rm .git/HEAD; mkfifo .git/HEAD',
  'make the result a pipe': 'mkfifo "$SIGNALBOX_RESULT_FILE"',
  'make the result a device': 'ln -s /dev/zero "$SIGNALBOX_RESULT_FILE"',
  'make the result a link to a file of the person': 'ln -s "$SECRET" "$SIGNALBOX_RESULT_FILE"',
  'write an endless result': 'truncate -s 3G "$SIGNALBOX_RESULT_FILE"',
  'replace the log by a pipe': `
    log=$(dirname "$SIGNALBOX_WORKTREE")/log.ndjson
    rm -f "$log"; mkfifo "$log"`,
  'write into the log': 'echo "{" >> "$(dirname "$SIGNALBOX_WORKTREE")/log.ndjson"',
  'forge the numbers of its log': `
    curl -s -o /dev/null -w 'forged: %{http_code}\\n' "$SIGNALBOX_BASE_URL/control-plane/v1/job-events/append" \
      -H "authorization: Bearer $SIGNALBOX_JOB_TOKEN" -H 'content-type: application/json' --data-binary @- <<END
{"workspaceId":"$SIGNALBOX_WORKSPACE_ID","jobId":"$SIGNALBOX_JOB_ID","agentId":"$SIGNALBOX_AGENT_ID",
"claimGeneration":$SIGNALBOX_ATTEMPT,
"entries":[{"logSeq":9007199254740991,"message":"all fine","stream":"agent"}]}
END
    echo 'it is not fine'`,
  'replace .git by a link to the clone': 'echo evil > evil; rm -rf .git; ln -s "$CLONE/.git" .git',
  'make its objects a link': 'rm -rf .git/objects; ln -s "$CLONE/.git/objects" .git/objects',
  'make its refs a link': 'rm -rf .git/refs; ln -s "$CLONE/.git/refs" .git/refs',
  'make its index a link to a new file': `
    echo evil > 'touch pwned'; ln -sf "$OUTSIDE/new" .git/index`,
  'make its index a pipe': 'rm .git/index; mkfifo .git/index',
  'make .gitignore a pipe': 'mkfifo .gitignore',
  'borrow the objects of another repository': `
    echo "$OTHER/.git/objects" >> .git/objects/info/alternates
    git -C "$OTHER" rev-parse HEAD > .git/HEAD`,
  'have its new refs written through a link': `
    for name in signalbox-ref signalbox-index index.lock HEAD.lock; do
      ln -s "$OUTSIDE/precious" .git/$name
    done
    echo changed >> README.md`,
  'make the result a second name of a file': 'ln "$SECRET" "$SIGNALBOX_RESULT_FILE"',
  'replace the folder of the result': `
    folder=$(dirname "$SIGNALBOX_RESULT_FILE"); rm -rf "$folder"; ln -s "$OUTSIDE" "$folder"`,
  'make the report a pipe': 'rm -f "$SIGNALBOX_REPORT_FILE"; mkfifo "$SIGNALBOX_REPORT_FILE"',
  'have the report written through a link': `
    ln -s "$OUTSIDE/precious" "$SIGNALBOX_REPORT_FILE"
    call finish '{"outcome":"done","message":"$(touch pwned)"}'`,
  'have the report written through a second name': `
    ln "$OUTSIDE/precious" "$SIGNALBOX_REPORT_FILE"
    call finish '{"outcome":"done","message":"$(touch pwned)"}'`,
  'attach a file of the person': `
    ln -s "$OUTSIDE" out
    call attach_file '{"path":"out/precious"}' '{"path":"../../../precious"}'`,
  'attach through a folder that it exchanges': `
    mkdir shots; echo mine > shots/precious
    while :; do mv shots away; ln -s "$OUTSIDE" shots; rm shots; mv away shots; done 2>/dev/null &
    loop=$!
    for try in 1 2 3 4 5 6 7 8; do
      set -- "$@" '{"path":"shots/precious"}' '{"path":"shots/precious"}' '{"path":"shots/precious"}'
    done
    call attach_file "$@"
    kill $loop`,
  'complete its job itself': `
    echo forged > forged; git add forged; git -c commit.gpgSign=false commit -qm forged
    curl -s -o /dev/null -w 'completed: %{http_code}\\n' "$SIGNALBOX_BASE_URL/control-plane/v1/jobs/complete" \\
      -H "authorization: Bearer $SIGNALBOX_JOB_TOKEN" -H 'content-type: application/json' --data-binary @- <<END
{"workspaceId":"$SIGNALBOX_WORKSPACE_ID","jobId":"$SIGNALBOX_JOB_ID","agentId":"$SIGNALBOX_AGENT_ID",
"claimGeneration":$SIGNALBOX_ATTEMPT,"outcome":"done","evidence":{"commitSha":"$(git rev-parse HEAD)",
"verdict":"verified","checks":[{"name":"all","command":"true","outcome":"passed","exitCode":0,"durationMs":1}]}}
END`,
  'read the environment of every process above': `
    pid=$$
    while [ "$pid" -gt 1 ] && [ "$pid" != "$TESTER" ]; do
      cat /proc/$pid/environ /proc/$pid/cmdline >> "$LOOT"
      pid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$pid/status)
    done`,
  'print the token in disguise': `
    token=$(cat "$KNOWN_TOKEN")
    first=$(echo "$token" | cut -c1-20); second=$(echo "$token" | cut -c21-)
    printf '%s\\033[0m%s\\n' "$first" "$second"
    printf '%s\\n%s\\n' "$first" "$second"
    printf '%s\\342\\200\\213%s\\n' "$first" "$second"
    printf '%s' "$token" | base64
    printf 'xx%s' "$token" | base64 -w 0
    printf '%s\\033]0;title\\007%s\\n' "$first" "$second" >&2
    echo "{\\"outcome\\":\\"done\\",\\"message\\":\\"$token\\"}" > "$SIGNALBOX_RESULT_FILE"`,
} as const;
type Attack = keyof typeof attacks;

/** A function of the shell that calls a tool of the job's server, as a coding tool does. */
const callFunction = `
call() {
  tool=$1; shift
  coproc server { "$NODE" "$COMMAND" mcp; }
  ask() { printf '%s\\n' "$1" >&"\${server[1]}"; read -r answer <&"\${server[0]}"; }
  client='"capabilities":{},"clientInfo":{"name":"x","version":"1"}'
  ask '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",'"$client}}"
  printf '{"jsonrpc":"2.0","method":"notifications/initialized"}\\n' >&"\${server[1]}"
  for input in "$@"; do
    ask '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$tool"'","arguments":'"$input}}"
    echo "$answer"
  done
  eval "exec \${server[1]}>&-"
}`;

interface Arena {
  place: HubPlace;
  clone: string;
  repoId: string;
  token: string;
  agent: Running;
  /** Nothing in there may change. */
  outside: string;
  /** Exists once anything of the tool's has run outside of the tool. */
  pwned: string;
}
let arena: Arena;

async function openArena(way: Way): Promise<Arena> {
  const place = await startHub();
  const token = await useServiceToken(place);
  const clone = makeClone(place);
  const repoId = await linkClone(place, clone);
  const other = makeClone(place, 'other');
  const at = (name: string) => join(place.directory, name);
  const [outside, pwned, pwn, tool] = [at('outside'), at('pwned'), at('pwn.sh'), at('tool.sh')];
  mkdirSync(outside);
  writeFileSync(join(outside, 'precious'), 'precious\n');
  writeFileSync(join(outside, 'result.json'), '{"outcome":"done","message":"stolen"}');
  writeFileSync(pwn, `#!/bin/sh\necho "$0 $*" >> ${pwned}\ncat\n`);
  writeFileSync(at('secret.json'), '{"outcome":"done","message":"stolen"}');
  writeFileSync(at('known-token'), token);
  const cases = Object.entries(attacks).map(([name, script]) => `'${name}') ${script}\n;;`);
  writeFileSync(
    tool,
    `#!/bin/bash
export PWN=${pwn} SECRET=${at('secret.json')} LOOT=${at('loot')} KNOWN_TOKEN=${at('known-token')}
export OUTSIDE=${outside} CLONE=${clone} OTHER=${other} TESTER=${process.pid}
export NODE=${process.execPath} COMMAND=${commandFile}
${callFunction}
request=$(cat)
case "\${request#feed }" in
${cases.join('\n')}
esac
# What the tool's own git has run does not count.
rm -f ${pwned}
exit 0
`,
  );
  for (const file of [pwn, tool]) chmodSync(file, 0o755);
  // The agent may take its own token from nowhere but its environment.
  const agent = place.start(
    ['agent', 'start', '--check', 'test ! -e forged', ...ways[way](place, tool)],
    {
      env: { ACP_SCRIPT_DIR: at('acp'), ACP_SCRIPT_PROGRAM: tool },
    },
  );
  await agent.says(/online/);
  return { place, clone, repoId, token, agent, outside, pwned };
}

const ways = {
  'a command': (_place: HubPlace, tool: string) => ['--tool', tool],
  'a tool over ACP': (place: HubPlace) =>
    configFlag(place, {
      tool: { name: `${process.execPath} ${scriptedAcpTool}`, protocol: 'acp' },
    }),
} as const;
type Way = keyof typeof ways;

/** Everything below a folder: its names, and the content of its files. */
function contentOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const file = join(folder, name);
    return [name, lstatSync(file).isFile() ? readFileSync(file, 'latin1') : ''];
  });
  return Object.fromEntries(entries);
}

/** Runs a job with an attack, and checks that nothing outside has changed or run. */
async function attack(name: Attack) {
  const { place, clone, repoId, outside, pwned } = arena;
  const before = contentOf(outside);
  const index = readFileSync(join(clone, '.git', 'index'));
  const jobId = await enqueueJob(place, repoId, `feed ${name}`, { maxAttempts: 1 });
  const client = clientOf(place);
  const ref = { workspaceId: place.workspaceId, jobId };
  let { job } = await client.jobs.get(ref);
  while (job.finishedAt === null) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    ({ job } = await client.jobs.get(ref));
  }
  const { events } = await client.jobEvents.listForJob({ ...ref, limit: 1_000 });
  assert.ok(!existsSync(pwned), existsSync(pwned) ? readFileSync(pwned, 'utf8') : '');
  assert.deepEqual(contentOf(outside), before);
  assert.deepEqual(readFileSync(join(clone, '.git', 'index')), index);
  const reason = job.outcomeReason as { code?: string; summary?: string } | null;
  const evidence = (job.evidence ?? {}) as Record<string, unknown>;
  return { job, reason, evidence, text: JSON.stringify({ job, events }) };
}

/** Attacks that leave no repository, and the words for people. */
const broken: readonly (readonly [Attack, RegExp])[] = [
  ['replace .git by a file that leads to another repository', /\.git is no folder/],
  ['commit to nothing', /left 1{40}, which is no commit/],
  ['commit without the objects', /The commits cannot be read|git write-tree/],
  ['make HEAD a pipe', /\.git\/HEAD of the worktree is not a regular file/],
  ['replace .git by a link to the clone', /\.git is no folder/],
  ['make its objects a link', /\.git\/objects is no folder/],
  ['make its refs a link', /\.git\/refs is no folder/],
  ['make its index a link to a new file', /\.git\/index of the worktree: .* it is a link/],
  ['make its index a pipe', /\.git\/index of the worktree is not a regular file/],
  ['make .gitignore a pipe', /\.gitignore of the worktree is not a regular file/],
  ['borrow the objects of another repository', /alternates was changed/],
];
function testBroken() {
  for (const [name, words] of broken) {
    test(`that tries to ${name} fails its job, without a commit`, async () => {
      const before = contentOf(join(arena.clone, '.git'));
      const { job, reason, evidence } = await attack(name);
      assert.equal(job.status, 'failed');
      assert.equal(reason?.code, 'evidence_failed');
      assert.match(reason?.summary ?? '', words);
      assert.equal(evidence.commitSha, undefined);
      assert.deepEqual(contentOf(join(arena.clone, '.git')), before);
    });
  }
}

const wrongFiles: readonly (readonly [Attack, RegExp])[] = [
  ['make the result a pipe', /It is not a regular file/],
  ['make the result a device', /it is a link/],
  ['make the result a link to a file of the person', /it is a link/],
  ['make the result a second name of a file', /several names/],
  ['replace the folder of the result', /a folder of its path is a link/],
  ['write an endless result', /larger than 200000 bytes/],
  ['make the report a pipe', /report of the tool: It is not a regular file/],
  ['have the report written through a link', /report of the tool: .* it is a link/],
  ['have the report written through a second name', /report of the tool: .* several names/],
];
function testWrongFiles() {
  for (const [name, words] of wrongFiles) {
    test(`that tries to ${name} fails its job`, async () => {
      const { job, reason, text } = await attack(name);
      assert.equal(job.status, 'failed');
      assert.equal(reason?.code, 'result_file_invalid');
      assert.match(reason?.summary ?? '', words);
      assert.ok(!text.includes('stolen') && !text.includes('Noted. End your turn'));
    });
  }
}

function testFiles() {
  test('that puts programs into every configuration of git gets none of them run', async () => {
    const { job, evidence } = await attack('put programs into every configuration that git reads');
    assert.equal(job.status, 'done', JSON.stringify(job.outcomeReason));
    const file = `${evidence.commitSha}:README.md`;
    assert.equal(git(arena.clone, '-c', 'core.fsmonitor=', 'show', file), 'hello\nchanged');
  });

  test('that prepares links for new refs has its work saved past them', async () => {
    const { job, evidence } = await attack('have its new refs written through a link');
    assert.equal(job.status, 'done', JSON.stringify(job.outcomeReason));
    assert.equal(evidence.verdict, 'verified');
    assert.equal(git(arena.clone, 'show', `${evidence.commitSha}:README.md`), 'hello\nchanged');
  });

  test('attaches no file of the person, by a link or a path', async () => {
    const { evidence, text } = await attack('attach a file of the person');
    assert.ok((text.match(/is outside the worktree/g)?.length ?? 0) >= 2, text);
    assert.equal(evidence.attachments, undefined);
  });

  test('attaches nothing through a folder that it exchanges meanwhile', async () => {
    const { job, evidence } = await attack('attach through a folder that it exchanges');
    assert.equal(job.status, 'done', JSON.stringify(job.outcomeReason));
    const { place } = arena;
    const { workspaceId } = place;
    for (const { uploadId } of (evidence.attachments ?? []) as { uploadId: string }[]) {
      const link = await clientOf(place).uploads.getDownloadUrl({ workspaceId, uploadId });
      assert.equal(await (await fetch(link.downloadUrl)).text(), 'mine\n');
    }
  });

  for (const name of ['replace the log by a pipe', 'write into the log'] as const) {
    test(`that tries to ${name} does not stop its agent`, async () => {
      assert.equal((await attack(name)).job.status, 'done');
    });
  }
}

function testWords() {
  test('that completes its job itself is refused, and the check of the agent decides', async () => {
    const { job, evidence, text } = await attack('complete its job itself');
    assert.match(text, /completed: 400/);
    assert.equal(job.status, 'done');
    assert.equal(evidence.verdict, 'gaps');
    assert.deepEqual(
      (evidence.checks as { name: string }[]).map(({ name }) => name),
      ['test ! -e forged'],
    );
  });

  test('that forges the numbers of its log does not silence the agent', async () => {
    const { text } = await attack('forge the numbers of its log');
    assert.match(text, /it is not fine/);
    assert.match(text, /forged: \d/);
  });

  test('finds the agent’s token in no environment and no command line', async () => {
    const { job } = await attack('read the environment of every process above');
    assert.equal(job.status, 'done');
    const { place, token } = arena;
    const loot = readFileSync(join(place.directory, 'loot'), 'latin1');
    assert.ok(loot.includes(place.env.SIGNALBOX_CONFIG_DIR ?? '?'), 'it has read the agent’s');
    assert.ok(!loot.includes(token));
  });

  test('has a token in disguise redacted in output and results', async () => {
    const { text } = await attack('print the token in disguise');
    const { token } = arena;
    assert.ok(text.includes('[redacted]'));
    const visible = text.replaceAll(/\\u001b\[[0-9]*m|\\u001b\]0;title\\u0007|\\n|\u200b/g, '');
    assert.ok(!visible.includes(token));
    for (const before of ['', 'xx']) {
      const base64 = Buffer.from(before + token).toString('base64');
      assert.ok(!visible.includes(base64.slice(4, 44)), base64);
    }
  });
}

for (const way of Object.keys(ways) as Way[]) {
  describe(way, () => {
    before(async () => {
      arena = await openArena(way);
    });
    after(async () => await arena.place.end());
    testBroken();
    testWrongFiles();
    testFiles();
    testWords();
    test('leaves an agent that SIGTERM ends', async () => {
      arena.agent.child.kill('SIGTERM');
      const { exitCode, stderr } = await arena.agent.ended;
      assert.equal(exitCode, exitCodes.ok, stderr);
    });
  });
}
