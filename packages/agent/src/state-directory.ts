import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readToolFile, ToolFileError } from './process/tool-file.ts';

/**
 * An agent's persistent state. Each directory serves one agent at a time.
 *
 * ```
 * agent.lock      the process that uses the directory
 * machine-id      the machine's fingerprint, generated once
 * claims.json     the key of the next claim, and the attempts that are held
 * kept-max.json   the most warm worktrees that its agent keeps of a repository
 * mirrors/        a bare mirror of each mapped clone
 * jobs/<key>/     one attempt: prompt.txt, log.ndjson, changes.patch, round.patch, process.json,
 *                 evidence.git/, worktree/ and tool/, which belong to the tool and have its
 *                 result.json, and
 *                 notes/, where programs of the agent write beside the tool (report.ndjson),
 *                 and attachments/, the files of the job, and private/, the home directory and
 *                 the temporary files of wrapped processes
 * sessions/<work>/ the worktree of a job whose tool has sessions, over all its attempts here:
 *                 session.json, worktree/, evidence.git/, attachments/
 * works/<work>.json  the session of a work whose last round has ended, for the next one
 * works/<job>.result.json  the commits of an ended job, in case a member asks for its patch
 * warm/<repo>/    files of worktrees for later jobs of a repository
 * setups/<repo>/  folders that commands of a set-up have filled, for later jobs
 * kept/<key>/     a worktree whose changes could not be published to the clone
 * outbox/         results that the hub has not answered yet
 * outbox/refused/ results that the hub rejected, kept for the person
 * ```
 */
export type StateDirectory = Readonly<ReturnType<typeof placesIn>>;

export type JobDirectory = Readonly<ReturnType<typeof jobDirectory>>;

/**
 * Creates the directory and its subdirectories with mode 0700: prompts and output are private. The
 * paths are absolute, because git and tools run in other directories.
 */
export async function openStateDirectory(given: string): Promise<StateDirectory> {
  const state = placesIn(resolve(given));
  const { path, mirrors, jobs, sessions, works, warm, setups, kept, refused } = state;
  for (const part of [path, mirrors, jobs, sessions, works, warm, setups, kept, refused]) {
    await mkdir(part, { recursive: true, mode: 0o700 });
  }
  return state;
}

function placesIn(path: string) {
  return {
    path,
    lockFile: join(path, 'agent.lock'),
    machineIdFile: join(path, 'machine-id'),
    claimsFile: join(path, 'claims.json'),
    keptMaxFile: join(path, 'kept-max.json'),
    mirrors: join(path, 'mirrors'),
    jobs: join(path, 'jobs'),
    sessions: join(path, 'sessions'),
    works: join(path, 'works'),
    warm: join(path, 'warm'),
    setups: join(path, 'setups'),
    kept: join(path, 'kept'),
    outbox: join(path, 'outbox'),
    refused: join(path, 'outbox', 'refused'),
  };
}

export function jobDirectory(state: StateDirectory, key: string) {
  const path = join(state.jobs, key);
  return {
    path,
    promptFile: join(path, 'prompt.txt'),
    logFile: join(path, 'log.ndjson'),
    /** The patch that is uploaded with the result. */
    patchFile: join(path, 'changes.patch'),
    /** The patch of a later round alone. */
    roundPatchFile: join(path, 'round.patch'),
    /** Where the tool writes files for the agent. */
    toolFiles: join(path, 'tool'),
    resultFile: join(path, 'tool', 'result.json'),
    /**
     * Where `signalbox mcp` and hooks write, as the user of the tool. A sandbox of the tool is not
     * opened for it.
     */
    notes: join(path, 'notes'),
    reportFile: join(path, 'notes', 'report.ndjson'),
    processFile: join(path, 'process.json'),
    /** The git directory by which the agent reads the worktree. */
    evidenceDir: join(path, 'evidence.git'),
    worktree: join(path, 'worktree'),
    /** The files that are attached to the job. The tool only reads them. */
    attachments: join(path, 'attachments'),
    /** Has the home directory and the temporary files of wrapped processes. */
    privateDir: join(path, 'private'),
  };
}

/** Records the most warm worktrees of a repository, for those who look at the directory. */
export async function writeKeptMax({ keptMaxFile }: StateDirectory, max: number): Promise<void> {
  await writeFileDurably(keptMaxFile, JSON.stringify(max));
}

/** Null: no agent has used the directory. */
export async function readKeptMax(stateDir: string): Promise<number | null> {
  const { keptMaxFile } = await openStateDirectory(stateDir);
  const max = await readJsonFile(keptMaxFile);
  return typeof max === 'number' ? max : null;
}

/**
 * Returns the fingerprint that identifies this machine to the hub: random, generated once, kept in
 * the state directory. It reveals nothing about the hardware or the person.
 */
export async function readMachineFingerprint(stateDir: string): Promise<string> {
  const { machineIdFile } = await openStateDirectory(stateDir);
  try {
    await writeFile(machineIdFile, `${randomBytes(16).toString('hex')}\n`, {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return (await readFile(machineIdFile, 'utf8')).trim();
}

/** Writes a file atomically; it is durable on disk when this resolves. */
export async function writeFileDurably(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, file);
  await syncDirectory(dirname(file));
}

/** Whether the disk of the agent is full, by an error of its own or by the words of git. */
export function isDiskFull(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || /No space left on device/.test(message);
}

/** Makes a rename or removal durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Limit of a JSON file: a completion fits into a request, with room for its escapes. */
const JSON_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Parses a JSON file; null when it is missing or incompletely written, or when a tool of the same
 * user has put something else in its place.
 */
export async function readJsonFile(file: string): Promise<unknown> {
  try {
    const bytes = await readToolFile(file, { bytesMax: JSON_BYTES_MAX });
    return bytes === null ? null : JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ToolFileError) return null;
    throw error;
  }
}
