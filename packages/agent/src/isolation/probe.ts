import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { unlessGone } from '../process/process-list.ts';
import { ProcessStartError, runProcess } from '../process/process-run.ts';
import { MARK_VARIABLE } from '../process/process-tree.ts';
import type { ToolUser } from '../process/tool-user.ts';
import type { Command, OwnSandbox, Wrap } from './bubblewrap.ts';
import { type BrokenRung, type Promised, type Proof, promisesOf, type Rung } from './rungs.ts';

/** Where a tool is to work, and what it must not reach from there. */
export interface ProbePlace {
  cwd: string;
  env: NodeJS.ProcessEnv;
  user: ToolUser | null;
  clock: Clock;
  /** Null: the rung `wrap` is not in use. */
  wrap: Wrap | null;
  /** Null: the tool has none of its own. */
  sandbox: OwnSandbox | null;
  /** The home directory, and the names in it that a wrapped tool sees. */
  home: { path: string; seen: ReadonlySet<string> };
  /** Files with content. */
  agentFiles: readonly string[];
  homeFiles: readonly string[];
  /** Directories that a tool must not write to. */
  outside: readonly string[];
}

/** No program starts there; the message has the words of what refused. */
class AttackError extends Error {
  override name = 'AttackError';
}

const PROBE_MS_MAX = 60_000;
const KILL_GRACE_MS = 1_000;
const OUTPUT_CHARS_MAX = 1_000_000;
const WORDS_CHARS_MAX = 500;

/**
 * The attack. It says what it could read; what it has written, ended and left behind is seen from
 * outside. The token is divided, because its own processes must not be taken for the decoy.
 */
const attack = `
half=$1 decoy=$2 home=$3 leaves=$4; shift 4
kill -9 "$decoy"
if [ "$leaves" = yes ]; then
  (setsid env -i /bin/sh -c 'cd /; sleep 600; exit' "left-$half" < /dev/null > /dev/null 2>&1 &)
fi
cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep "$half" | sed 's/^/environ /'
ls -A "$home" | sed 's/^/home /'
while [ "$1" != -- ]; do [ -n "$(head -c 1 "$1")" ] && echo "read $1"; shift; done
shift
for at; do echo written > "$at/.signalbox-probe-$half"; done
echo ran
`;

/** Tries to break out of what is in use, and says what held. */
export async function probe(place: ProbePlace): Promise<Proof> {
  const outer: Rung[] = [
    ...(place.user === null ? [] : (['user'] as const)),
    ...(place.wrap === null ? [] : (['wrap'] as const)),
  ];
  const ends = [
    ...(outer.length === 0 ? [] : await tryRungs(outer, place, place.wrap)),
    ...(place.sandbox === null ? [] : await tryTool(place, place.sandbox)),
  ];
  const rungs = ends.filter((end) => typeof end === 'string');
  return {
    rungs,
    proved: [...new Set(rungs.flatMap((rung) => promisesOf[rung]))],
    broken: ends.filter((end) => typeof end !== 'string'),
  };
}

/** A tool that is wrapped starts its own sandbox inside. */
function tryTool(place: ProbePlace, { wrap: inner, env }: OwnSandbox) {
  const { wrap: outer } = place;
  const wrap: Wrap = (command) => (outer === null ? inner(command) : outer(inner(command)));
  return tryRungs(['tool'], { ...place, env: { ...place.env, ...env } }, wrap);
}

async function tryRungs(
  rungs: readonly Rung[],
  place: ProbePlace,
  wrap: Wrap | null,
): Promise<(Rung | BrokenRung)[]> {
  const tried = new Set(rungs.flatMap((rung) => promisesOf[rung]));
  try {
    const failures = await attackOnce(tried, place, wrap);
    return rungs.map((rung) => {
      const why = promisesOf[rung].map((each) => failures.get(each)).find((each) => each);
      return why === undefined ? rung : { rung, why };
    });
  } catch (error) {
    if (!(error instanceof AttackError) && !(error instanceof ProcessStartError)) throw error;
    return rungs.map((rung) => ({ rung, why: error.message, isDead: true }));
  }
}

/** Returns what the attack could do, in words, by the promise that forbids it. */
async function attackOnce(
  tried: ReadonlySet<Promised>,
  place: ProbePlace,
  wrap: Wrap | null,
): Promise<Map<Promised, string>> {
  const { home, agentFiles, homeFiles, outside } = place;
  const [half, token] = [randomBytes(12).toString('hex'), randomBytes(12).toString('hex')];
  const decoy = spawn('sleep', ['600'], {
    env: { SIGNALBOX_DECOY: half + token },
    stdio: 'ignore',
  });
  await once(decoy, 'spawn');
  const isLeaving = tried.has('end');
  try {
    const said = await runAttack(place, wrap, [
      ...[half, String(decoy.pid), home.path, isLeaving ? 'yes' : 'no'],
      ...[...agentFiles, ...homeFiles, '--', ...outside],
    ]);
    const failures = new Map<Promised, string>();
    const fail = (promised: Promised, why: string | undefined) => {
      if (why !== undefined && tried.has(promised)) failures.set(promised, why);
    };
    const read = said.filter((line) => line.startsWith('read ')).map((line) => line.slice(5));
    const isRead = (file: string) => read.includes(file);
    fail('agent-files', reading(agentFiles.find(isRead)));
    fail('home', reading(homeFiles.find(isRead) ?? seenInHome(said, home)));
    if (said.some((line) => line.includes(half + token))) {
      fail('processes', 'it reads the environment of other processes');
    }
    if (decoy.exitCode !== null || decoy.signalCode !== null) {
      fail('processes', 'it ends other processes');
    }
    fail('writes', await removeWritten(outside, half));
    if (isLeaving && (await endLeft(`left-${half}`))) fail('end', 'it leaves a process behind');
    return failures;
  } finally {
    decoy.kill('SIGKILL');
  }
}

const reading = (file: string | undefined) => (file === undefined ? undefined : `it reads ${file}`);

/** A name of the person's home directory that the attack saw and that is not among the seen. */
function seenInHome(said: readonly string[], { path, seen }: ProbePlace['home']) {
  const names = existsSync(path) ? readdirSync(path) : [];
  const found = names.find((name) => !seen.has(name) && said.includes(`home ${name}`));
  return found === undefined ? undefined : join(path, found);
}

async function removeWritten(outside: readonly string[], half: string) {
  let found: string | undefined;
  for (const directory of outside) {
    const file = join(directory, `.signalbox-probe-${half}`);
    if (!existsSync(file)) continue;
    await rm(file);
    found ??= `it writes to ${directory}`;
  }
  return found;
}

/** Ends what the attack has left behind; says whether there was something. */
async function endLeft(name: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  let isFound = false;
  for (const pid of (await readdir('/proc')).filter((each) => /^\d+$/.test(each))) {
    const line = (await unlessGone(readFile(`/proc/${pid}/cmdline`, 'utf8'))) ?? '';
    if (!line.split('\0').includes(name)) continue;
    isFound = true;
    process.kill(Number(pid), 'SIGKILL');
  }
  return isFound;
}

/** @throws {AttackError} the attack did not run to its end. */
async function runAttack(
  { cwd, env, user, clock }: ProbePlace,
  wrap: Wrap | null,
  args: readonly string[],
): Promise<string[]> {
  const mark = randomBytes(16).toString('hex');
  const output = { stdout: '', stderr: '' };
  const command: Command = { file: '/bin/sh', args: ['-c', attack, 'probe', ...args] };
  const exit = await runProcess({
    ...command,
    wrap,
    cwd,
    user,
    mark,
    clock,
    env: { ...env, [MARK_VARIABLE]: mark },
    directory: cwd,
    stdin: '',
    async onOutput(stream, text) {
      output[stream] = (output[stream] + text).slice(0, OUTPUT_CHARS_MAX);
    },
    signal: AbortSignal.timeout(PROBE_MS_MAX),
    killGraceMs: () => KILL_GRACE_MS,
  });
  const lines = output.stdout.split('\n');
  if (exit.code === 0 && lines.includes('ran')) return lines;
  const words = output.stderr.trim().replaceAll(/\s+/g, ' ').slice(0, WORDS_CHARS_MAX);
  throw new AttackError(words || `it ended ${exit.code ?? exit.signal}`);
}
