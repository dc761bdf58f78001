import { existsSync, globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { JOB_SERVER_NAME } from '../job-server.ts';
import { objectOf, parseObject } from '../json-fields.ts';

/*
 * The settings by which each tool asks this agent, even if its person or the repository has
 * configured otherwise. Each was tried with the real tool (`e2e/tools/settings-sqlite.test.ts`).
 */

/** The options of a new session of Claude Code (`_meta.claudeCode.options`). */
export const claudeSessionMeta = {
  claudeCode: {
    options: {
      // Without this the tool must be able to skip all permissions, which it refuses as root.
      allowDangerouslySkipPermissions: false,
      // Allow rules of the person and of the repository do not count: only this agent allows.
      managedSettings: { allowManagedPermissionRulesOnly: true },
      // Servers of the repository's `.mcp.json` would run with the variables of the job.
      strictMcpConfig: true,
      settings: {
        // Those of the repository would run with the variables of the job, before the model.
        disableAllHooks: true,
        // A sandbox of the person would otherwise answer for commands.
        sandbox: { autoAllowBashIfSandboxed: false },
      },
    },
  },
} as const;

export const geminiArgs = [
  '--acp',
  ...['--approval-mode', 'default'],
  // Those of the repository would run with the variables of the job where it is trusted.
  ...['--allowed-mcp-server-names', JOB_SERVER_NAME],
  ...['--policy', join(import.meta.dirname, '../../../tool-settings/gemini-policy.toml')],
];

/** The first match from the end decides, and an agent's own rules come after these. */
const opencodePermission = {
  '*': 'ask',
  read: 'allow',
  glob: 'allow',
  grep: 'allow',
  list: 'allow',
  lsp: 'allow',
  todowrite: 'allow',
  todoread: 'allow',
  task: 'allow',
  skill: 'allow',
  question: 'allow',
  edit: 'ask',
  bash: 'ask',
  webfetch: 'ask',
  websearch: 'ask',
  external_directory: 'ask',
  // The job's own tools reach no further than the job.
  [`${JOB_SERVER_NAME}_*`]: 'allow',
};
/** Its agents; a session runs one of them, which is its mode. */
export const opencodeModes = { mode: 'build', readOnlyMode: 'build' };
/** The first of these is the repository's own text for the model. */
const opencodeInstructions = ['AGENTS.md', 'CLAUDE.md'];

/**
 * Variables of opencode. By default it asks about nothing but files outside. Its configuration in
 * the repository may start programs and load code, so it is left out, except for its text.
 */
export function opencodeEnv(cwd: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const own = parseObject(env.OPENCODE_CONFIG_CONTENT ?? '') ?? {};
  const agents = objectOf(own.agent);
  const build = { ...objectOf(agents.build), permission: opencodePermission };
  const text = opencodeInstructions.map((name) => join(cwd, name)).find((path) => existsSync(path));
  const config = {
    ...own,
    permission: opencodePermission,
    agent: { ...agents, build },
    ...(text === undefined ? {} : { instructions: [text] }),
  };
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_PERMISSION: JSON.stringify(opencodePermission),
    OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  };
}

/**
 * Codex's `app-server` has no setting against rules that the person has allowed in sessions of
 * their own (`codex exec --ignore-rules` has).
 */
export function codexWarnings(env: NodeJS.ProcessEnv): string[] {
  const home = env.CODEX_HOME ?? join(env.HOME ?? homedir(), '.codex');
  return rulesOf(join(home, 'rules'))
    .filter(allows)
    .map((file) => `Codex runs what ${file} allows without its sandbox, and does not ask.`);
}

/**
 * Its adapter declares the directory of a session trusted, and `.codex` in the repository would
 * apply: its servers and hooks run, its rules allow. Codex compares the spelling of the path.
 */
export function codexCwd(cwd: string): string {
  return `${cwd}/.`;
}

function rulesOf(folder: string): string[] {
  return globSync('*.rules', { cwd: folder }).map((name) => join(folder, name));
}

function allows(file: string): boolean {
  const isRule = (line: string) =>
    line.includes('_rule(') && !/decision\s*=\s*"(prompt|forbidden)"/.test(line);
  return readFileSync(file, 'utf8').split('\n').some(isRule);
}
