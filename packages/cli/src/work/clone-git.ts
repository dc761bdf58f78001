import { execFile } from 'node:child_process';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../terminal/io.ts';

/** A person's clone, in which git runs with their own configuration and hooks. */
export interface Clone {
  /** The top directory. */
  path: string;
  io: Io;
}

/** A list of a million branches or files is larger than anything that people look at. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const COMPLAINT_CHARS_MAX = 1_000;

export interface GitAnswer {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/**
 * Opens the clone of the current directory.
 * @throws {CliError} NOT_A_CLONE, GIT_MISSING.
 */
export async function openClone(io: Io): Promise<Clone> {
  const { exitCode, stdout } = await callGit({ path: '.', io }, ['rev-parse', '--show-toplevel']);
  const path = stdout.replace(/\n$/, '');
  if (exitCode === 0 && path !== '') return { path, io };
  throw new CliError(exitCodes.usage, 'NOT_A_CLONE', 'This directory is in no git clone.', {
    fix: 'Run the command in the clone that the agent works for: signalbox repo list',
  });
}

/**
 * Runs git and returns its output.
 * @throws {CliError} GIT_FAILED, GIT_MISSING.
 */
export async function runGit(clone: Clone, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await callGit(clone, args);
  if (exitCode === 0) return stdout;
  throw gitFailed(args, stderr);
}

/** Like `runGit`, for questions: null when git exits with an error. */
export async function askGit(clone: Clone, args: readonly string[]): Promise<string | null> {
  const { exitCode, stdout } = await callGit(clone, args);
  return exitCode === 0 ? stdout.trimEnd() : null;
}

export function gitFailed(args: readonly string[], stderr: string): CliError {
  const said = stderr.trim().slice(-COMPLAINT_CHARS_MAX);
  const message = `git ${args[0]} failed.${said === '' ? '' : ` ${said}`}`;
  return new CliError(exitCodes.failed, 'GIT_FAILED', message);
}

/** @throws {CliError} GIT_MISSING: git cannot be started. */
export function callGit({ path, io }: Clone, args: readonly string[]): Promise<GitAnswer> {
  const settings = { cwd: path, env: io.env, maxBuffer: OUTPUT_BYTES_MAX, signal: io.signal };
  return new Promise((resolve, reject) => {
    execFile('git', args, settings, (error, stdout, stderr) => {
      if (error === null) return resolve({ exitCode: 0, stdout, stderr });
      if (typeof error.code === 'number') return resolve({ exitCode: error.code, stdout, stderr });
      if (io.signal.aborted) return reject(io.signal.reason);
      const message = `git could not run: ${error.message}`;
      reject(new CliError(exitCodes.failed, 'GIT_MISSING', message, { cause: error }));
    });
  });
}
