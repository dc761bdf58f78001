import type { EvidenceCheck } from '@signalbox/contract';
import { findOnPath } from '../executors/find-on-path.ts';
import { askGit } from '../git/git.ts';
import { subjectOf } from '../git/git-evidence.ts';
import type { JobWork } from '../job/job-work.ts';
import { cleanEnvironment } from '../process/environment.ts';
import { type ProgramError, runProgram } from '../process/run-program.ts';
import { describe } from './describe-check.ts';
import { LandingError, type PushTarget } from './push-branch.ts';

/** The command of a forge that opens a pull request, and what it calls one. */
interface ForgeTool {
  name: 'gh' | 'glab';
  request: string;
  args(draft: RequestDraft): string[];
  /** Whether the text is read from standard input. */
  readsBody: boolean;
}

interface RequestDraft {
  branch: string;
  title: string;
  body: string;
  /** Null: the forge's default branch. */
  base: string | null;
  /** Gaps are to be looked at before a review. */
  isDraft: boolean;
}

const gh: ForgeTool = {
  name: 'gh',
  request: 'pull request',
  readsBody: true,
  args: ({ branch, title, base, isDraft }) => [
    ...['pr', 'create', '--head', branch, '--title', title, '--body-file', '-'],
    ...(base === null ? [] : ['--base', base]),
    ...(isDraft ? ['--draft'] : []),
  ],
};

const glab: ForgeTool = {
  name: 'glab',
  request: 'merge request',
  readsBody: false,
  args: ({ branch, title, body, base, isDraft }) => [
    ...['mr', 'create', '--source-branch', branch, '--title', title, '--description', body],
    ...(base === null ? [] : ['--target-branch', base]),
    ...(isDraft ? ['--draft'] : []),
    '--yes',
  ],
};

const CALL_MS_MAX = 2 * 60_000;
const URL_CHARS_MAX = 1_000;
const webUrl = /https?:\/\/[^\s"'<>]+/g;

/**
 * Opens a pull request for a pushed branch, with the person's own `gh` or `glab`.
 *
 * @returns its address.
 * @throws {LandingError}
 */
export async function openPullRequest(
  work: JobWork,
  target: PushTarget,
  proof: { checks: readonly EvidenceCheck[]; gaps: readonly string[] },
): Promise<string> {
  const env = {
    ...cleanEnvironment(work.settings.env, work.settings.token),
    // Both ask questions on a terminal unless they are told not to. NO_PROMPT is for older glab.
    GH_PROMPT_DISABLED: '1',
    GLAB_NO_PROMPT: '1',
    NO_PROMPT: '1',
    NO_COLOR: '1',
  };
  const { tool, file } = await chooseTool(target.url, env);
  const draft: RequestDraft = {
    branch: work.branch,
    title: work.redactor.redact(subjectOf(work.claimed.job.prompt)),
    body: work.redactor.redact(bodyOf(work.claimed.jobId, proof)),
    base: await findBaseBranch(work, target),
    isDraft: proof.gaps.length > 0,
  };
  const said = await callTool(work, { tool, file, env, cwd: target.clonePath }, draft);
  const url = said.match(webUrl)?.at(-1);
  if (url === undefined || url.length > URL_CHARS_MAX) {
    throw new LandingError(`${tool.name} did not print the address of its ${tool.request}.`);
  }
  await work.log.note(`signalbox: opened a ${tool.request}: ${url}`);
  return url;
}

function toolsOf(host: string): ForgeTool[] {
  if (/gitlab/i.test(host)) return [glab];
  return /github/i.test(host) ? [gh] : [gh, glab];
}

/** The host of a URL, or of the form `user@host:path`; empty for a path. */
function hostOf(url: string): string {
  const [, host = ''] =
    /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^/:]+)/i.exec(url) ??
    /^(?:[^@/:]*@)?([^/:]+):/.exec(url) ??
    [];
  return host;
}

/** The name of the host decides; elsewhere, whichever command is there. */
async function chooseTool(url: string, env: NodeJS.ProcessEnv) {
  const tools = toolsOf(hostOf(url));
  for (const tool of tools) {
    const file = await findOnPath(tool.name, env);
    if (file !== null) return { tool, file };
  }
  const names = tools.map(({ name }) => name).join(' nor ');
  const what = tools.length === 1 ? `${names} is not` : `neither ${names} is`;
  throw new LandingError(`No pull request was opened: ${what} on the PATH of the agent.`);
}

/** The branch that jobs start from, if the agent was told one and the remote has it. */
async function findBaseBranch(work: JobWork, { clonePath, remote }: PushTarget) {
  const { baseRef } = work.repository;
  if (baseRef === undefined) return null;
  const name = baseRef.replace(new RegExp(`^${remote}/`), '');
  const ref = `refs/remotes/${remote}/${name}`;
  const found = await askGit(['-C', clonePath, 'rev-parse', '--verify', '--quiet', ref]);
  return found === null ? null : name;
}

function bodyOf(
  jobId: string,
  { checks, gaps }: { checks: readonly EvidenceCheck[]; gaps: readonly string[] },
): string {
  const passed = checks.map(({ name, outcome, exitCode }) => {
    return `- \`${name.replaceAll('`', "'")}\` ${describe(outcome, exitCode)}`;
  });
  return [
    'Made by a coding agent.',
    ...(passed.length === 0 ? [] : [`Checks:\n${passed.join('\n')}`]),
    ...(gaps.length === 0 ? [] : [`Not proved:\n${gaps.map((gap) => `- ${gap}`).join('\n')}`]),
    `Signalbox-Job: ${jobId}`,
  ].join('\n\n');
}

interface Call {
  tool: ForgeTool;
  file: string;
  env: NodeJS.ProcessEnv;
  cwd: string;
}

async function callTool(
  work: JobWork,
  { tool, file, env, cwd }: Call,
  draft: RequestDraft,
): Promise<string> {
  const input = tool.readsBody ? draft.body : undefined;
  const options = { env, cwd, input, signal: work.signal, limitMs: CALL_MS_MAX };
  try {
    return (await runProgram(file, tool.args(draft), options)).stdout;
  } catch (error) {
    const { stderr, message } = error as ProgramError;
    const said = stderr.trim().split('\n').at(-1) || message;
    throw new LandingError(`${tool.name} could not open a ${tool.request}: ${said}`, {
      cause: error,
    });
  }
}
