import { randomBytes } from 'node:crypto';
import { access, constants, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseObject } from '../executors/json-fields.ts';
import { withoutToken } from '../process/environment.ts';
import { readToolFile } from '../process/tool-file.ts';
import type { ToolUser } from '../process/tool-user.ts';
import { runJobProcess } from './job-process.ts';
import { JobFailure, type JobWork } from './job-work.ts';

/** In order of execution. */
type HookName = 'environment' | 'pre-checkout' | 'pre-command' | 'post-command';

/** Variables of the shell itself, not to be passed on to the next process. */
const shellVariables = new Set(['_', 'SHLVL', 'PWD', 'OLDPWD']);
/** The environment of a process is a few MB at most (execve(2)). */
const ENVIRONMENT_BYTES_MAX = 8 * 1024 * 1024;
const shebangOfShell = /^#!.*\b(ba|da|k|z)?sh\b/;
/** Sources the hook, so that its exports take effect, and writes the environment to a new file. */
const sourceScript =
  '. "$0" && exec "$1" -e ' +
  `'require("node:fs").writeFileSync(process.argv[1], JSON.stringify(process.env),` +
  ` { flag: "wx", mode: 0o600 })' "$2"`;

/**
 * Runs one of the person's hooks, if it exists. Shell scripts are sourced: their exports apply to
 * all later steps, as with Buildkite's agent. Programs in other languages are run directly. A
 * failing hook fails the job.
 *
 * @param isOfTool the hook runs among the tool's files, and so as the tool does.
 */
export async function runHook(
  work: JobWork,
  name: HookName,
  cwd: string,
  isOfTool = false,
): Promise<void> {
  const file = await findHook(work.settings.hooksDir, name);
  if (file === null) return;
  const user = isOfTool ? work.settings.toolUser : null;
  const random = randomBytes(12).toString('hex');
  const environmentFile = join(work.directory.notes, `environment-${random}`);
  const isShell = await isShellScript(file);
  const shell = ['-c', sourceScript, file, process.execPath, environmentFile];
  const exit = await runJobProcess(work, {
    file: isShell ? '/bin/sh' : file,
    args: isShell ? shell : [],
    cwd,
    user,
    ...(isOfTool ? {} : { wrap: null }),
    onOutput: (stream, text) => work.log.write(stream, text),
  });
  if (exit.code !== 0) {
    const how = exit.code === null ? `by ${exit.signal}` : `with ${exit.code}`;
    const code = `hook_${name.replace('-', '_')}_failed`;
    throw new JobFailure('environment', code, `The ${name} hook ended ${how}.`);
  }
  await takeEnvironment(work, environmentFile, user);
}

async function findHook(hooksDir: string | undefined, name: HookName): Promise<string | null> {
  if (hooksDir === undefined) return null;
  const file = join(hooksDir, name);
  try {
    await access(file, constants.F_OK);
  } catch {
    return null;
  }
  try {
    await access(file, constants.X_OK);
    return file;
  } catch {
    throw new JobFailure('environment', 'hook_not_executable', `${file} is not executable.`);
  }
}

async function isShellScript(file: string): Promise<boolean> {
  const start = (await readFile(file)).subarray(0, 200).toString('latin1');
  return !start.startsWith('#!') ? !start.includes('\0') : shebangOfShell.test(start);
}

async function takeEnvironment(work: JobWork, file: string, user: ToolUser | null): Promise<void> {
  const limits = { bytesMax: ENVIRONMENT_BYTES_MAX, uid: user?.uid };
  const exported = parseObject((await readToolFile(file, limits))?.toString('utf8') ?? '');
  await rm(file, { force: true });
  // A hook that calls `exit 0` ends before its environment is written, so nothing changes.
  if (exported === null) return;
  const entries = Object.entries(exported).filter(([name]) => !shellVariables.has(name));
  const env = Object.fromEntries(entries) as NodeJS.ProcessEnv;
  work.env = withoutToken(env, work.settings.token);
  work.redactor.learn(work.env);
}
