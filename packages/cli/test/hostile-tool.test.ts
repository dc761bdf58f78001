/** A coding tool that attacks its agent: the real command, a real hub, real git. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import {
  git,
  type HubPlace,
  makeClone,
  type Running,
  startHub,
  useServiceToken,
} from './harness.ts';

let place: HubPlace;
let clone: string;
let token: string;
let agent: Running;
/** Exists once anything of the tool's has run outside of the tool. */
let pwned: string;

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

before(async () => {
  place = await startHub();
  token = await useServiceToken(place);
  clone = makeClone(place);
  const linked = await place.run(['repo', 'link', clone]);
  assert.equal(linked.exitCode, exitCodes.ok, linked.stderr);
  const at = (name: string) => join(place.directory, name);
  pwned = at('pwned');
  const pwn = at('pwn.sh');
  writeFileSync(pwn, `#!/bin/sh\necho "$0 $*" >> ${pwned}\ncat\n`);
  writeFileSync(at('secret.json'), '{"outcome":"done","message":"stolen"}');
  writeFileSync(at('known-token'), token);
  const cases = Object.entries(attacks).map(([name, script]) => `'${name}') ${script}\n;;`);
  const tool = at('tool.sh');
  writeFileSync(
    tool,
    `#!/bin/bash
export PWN=${pwn} SECRET=${at('secret.json')} LOOT=${at('loot')} KNOWN_TOKEN=${at('known-token')}
export TESTER=${process.pid}
case "$(cat)" in
${cases.join('\n')}
esac
# What the tool's own git has run does not count.
rm -f ${pwned}
exit 0
`,
  );
  for (const file of [pwn, tool]) chmodSync(file, 0o755);
  // The agent may take its own token from nowhere but its environment.
  agent = place.start(['agent', 'start', '--command', tool]);
  await agent.says(/online/);
});
after(async () => await place.end());

async function attack(name: Attack) {
  const args = ['enqueue', name, '--max-attempts', '1', '--wait', '--json'];
  const { stdout } = await place.run(args, { cwd: clone });
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { job } = lines.at(-1);
  return { job, text: stdout };
}

const broken: readonly Attack[] = [
  'replace .git by a file that leads to another repository',
  'commit to nothing',
  'commit without the objects',
  'make HEAD a pipe',
];
for (const name of broken) {
  test(`a tool that tries to ${name} fails its job, without a commit`, async () => {
    const { job } = await attack(name);
    assert.equal(job.status, 'failed');
    assert.equal(job.outcomeReason.code, 'evidence_failed');
    assert.equal(job.evidence.commitSha, undefined);
    assert.equal(git(clone, 'branch', '--list', `signalbox/${job.jobId}*`), '');
    assert.ok(!existsSync(pwned), existsSync(pwned) ? readFileSync(pwned, 'utf8') : '');
  });
}

test('a tool that puts programs into every configuration of git gets none of them run', async () => {
  const { job } = await attack('put programs into every configuration that git reads');
  assert.ok(!existsSync(pwned), existsSync(pwned) ? readFileSync(pwned, 'utf8') : '');
  assert.equal(job.status, 'done', JSON.stringify(job.outcomeReason));
  const { commitSha } = job.evidence;
  assert.equal(
    git(clone, '-c', 'core.fsmonitor=', 'show', `${commitSha}:README.md`),
    'hello\nchanged',
  );
});

const wrongResults: readonly Attack[] = [
  'make the result a pipe',
  'make the result a device',
  'make the result a link to a file of the person',
  'write an endless result',
];
for (const name of wrongResults) {
  test(`a tool that tries to ${name} fails its job`, async () => {
    const { job, text } = await attack(name);
    assert.equal(job.outcomeReason.code, 'result_file_invalid');
    assert.ok(!text.includes('stolen'));
  });
}

for (const name of ['replace the log by a pipe', 'write into the log'] as const) {
  test(`a tool that tries to ${name} does not stop its agent`, async () => {
    assert.equal((await attack(name)).job.status, 'done');
  });
}

test('a tool that forges the numbers of its log does not silence the agent', async () => {
  const { text } = await attack('forge the numbers of its log');
  assert.match(text, /it is not fine/);
  assert.match(text, /forged: \d/);
});

test('a tool finds the agent’s token in no environment and no command line', async () => {
  const { job } = await attack('read the environment of every process above');
  assert.equal(job.status, 'done');
  const loot = readFileSync(join(place.directory, 'loot'), 'latin1');
  assert.ok(loot.includes(place.env.SIGNALBOX_CONFIG_DIR ?? '?'), 'it has read the agent’s');
  assert.ok(!loot.includes(token));
});

test('a token in disguise is redacted in output and results', async () => {
  const { text } = await attack('print the token in disguise');
  assert.ok(text.includes('[redacted]'));
  const visible = text.replaceAll(/\\u001b\[[0-9]*m|\\u001b\]0;title\\u0007|\\n|\u200b/g, '');
  assert.ok(!visible.includes(token));
  for (const before of ['', 'xx']) {
    const base64 = Buffer.from(before + token).toString('base64');
    assert.ok(!visible.includes(base64.slice(4, 44)), base64);
  }
});

test('SIGTERM ends the agent after all of it', async () => {
  agent.child.kill('SIGTERM');
  const { exitCode, stderr } = await agent.ended;
  assert.equal(exitCode, exitCodes.ok, stderr);
});
