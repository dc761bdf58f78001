import type { ToolAction } from '../acp/tool-action.ts';
import { JOB_SERVER_NAME } from '../job-server.ts';
import { isGitReading } from './git-reading.ts';

/** The answer to a tool that asks for a permission; `ask`: a person decides. */
export type Verdict = 'allow' | 'ask' | 'refuse';

/** One line of a permission file. */
export interface PermissionRule {
  verdict: Verdict;
  /** A kind of action, an MCP tool as `mcp`, or `*`. */
  what: string;
  /** A pattern for the command, the paths, the address or the tool's name; '' matches all. */
  pattern: string;
  /** Only for this tool, such as claude; null: for all. */
  agent: string | null;
  /** Only for this repository, by id or by the path of its clone; null: for all. */
  repository: string | null;
}

interface PermissionScope {
  agent: string;
  repoId: string;
  clonePath: string;
  isReadOnly: boolean;
}

/** Decides about actions by the first rule that matches; the defaults come last. */
export interface PermissionPolicy {
  decide(action: ToolAction, scope: PermissionScope): Verdict;
}

const rule = (verdict: Verdict, what: string, pattern = ''): PermissionRule => ({
  verdict,
  what,
  pattern,
  agent: null,
  repository: null,
});

/** Commands that check a project. They run its code, which its tests do anyway. */
const checks = [
  ...['npm test', 'npm test *', 'npm run test*', 'npm run lint*', 'npm run check*'],
  ...['npm run build*', 'npm run typecheck*', 'npm ci', 'pnpm test*', 'pnpm run *', 'yarn test*'],
  ...['npx tsc', 'npx tsc *', 'tsc --noEmit*', 'node --test*', 'vitest*', 'npx vitest*', 'jest*'],
  ...['npx jest*', 'pytest*', 'python -m pytest*', 'python3 -m pytest*', 'tox*', 'ruff check*'],
  ...['mypy *', 'go test*', 'go vet*', 'go build*', 'cargo test*', 'cargo check*', 'cargo build*'],
  ...['cargo clippy*', 'make test*', 'make check*', 'make lint*', 'mvn test*', './gradlew test*'],
  ...['gradle test*', 'dotnet test*', 'bundle exec rspec*', 'mix test*', 'swift test*'],
];

/** The rules after those of the file. What is in none of them is asked. */
const defaultRules: readonly PermissionRule[] = [
  rule('refuse', 'execute', 'git push*'),
  rule('allow', 'mcp', JOB_SERVER_NAME),
  rule('allow', 'think'),
  rule('allow', 'search'),
];
/** In jobs that may write: a tool that changes the code runs its own code by them. */
const checkRules = checks.map((pattern) => rule('allow', 'execute', pattern));

export function createPermissionPolicy(rules: readonly PermissionRule[] = []): PermissionPolicy {
  return {
    decide(action, scope) {
      const { isReadOnly } = scope;
      if (isReadOnly && ['edit', 'delete', 'move'].includes(action.kind)) return 'refuse';
      const all = [...rules, ...defaultRules, ...(isReadOnly ? [] : checkRules)];
      const found = all.find((one) => isInScope(one, scope) && matches(one, action));
      if (found !== undefined) return found.verdict;
      if (action.kind === 'execute') return isGitReading(action.command) ? 'allow' : 'ask';
      // Files of the worktree are what the job is about; elsewhere a person decides.
      const isFileKind = ['read', 'edit', 'delete', 'move'].includes(action.kind);
      return isFileKind && action.isInside && action.paths.length > 0 ? 'allow' : 'ask';
    },
  };
}

function isInScope({ agent, repository }: PermissionRule, scope: PermissionScope): boolean {
  if (agent !== null && agent !== scope.agent) return false;
  return repository === null || repository === scope.repoId || repository === scope.clonePath;
}

/**
 * A rule that allows a command matches the whole line, and never one that holds several commands,
 * a redirection or a substitution: `npm test; rm -rf ~` is no `npm test`. A rule that refuses
 * matches if any part of the line does. It stops mistakes, not a tool that means to get around it.
 */
function matches(one: PermissionRule, action: ToolAction): boolean {
  if (one.what !== '*' && one.what !== action.kind) return false;
  if (one.pattern === '') return true;
  const test = patternOf(one.pattern);
  if (action.kind === 'execute') {
    const line = action.command.trim();
    if (one.verdict === 'refuse') return partsOf(line).some((part) => test.test(part));
    if (one.verdict === 'ask') return [line, ...partsOf(line)].some((part) => test.test(part));
    return line === one.pattern || (isSimple(line) && test.test(line));
  }
  if (action.kind === 'mcp') {
    const { mcpServer, toolName, title } = action;
    // Any server may have a tool of any name: only the server says whose tool it is.
    const own = [mcpServer, `${mcpServer}/${toolName.replace(`mcp__${mcpServer}__`, '')}`];
    const names = one.verdict === 'allow' ? own : [...own, toolName, title];
    return names.some((name) => test.test(name));
  }
  if (action.kind === 'fetch') return test.test(action.url);
  if (action.paths.length === 0) return test.test(action.title);
  const isMatch = (path: string) => test.test(path);
  return one.verdict === 'allow' ? action.paths.every(isMatch) : action.paths.some(isMatch);
}

function isSimple(line: string): boolean {
  return !/[;&|<>`\n\r\\]|\$[({A-Za-z_]/.test(line);
}

function partsOf(line: string): string[] {
  return line.split(/[;&|\n(){}`]+/).map((part) => part.trim().replace(/^(\w+=\S*\s+)+/, ''));
}

/** In a pattern, `*` matches any text, and everything else itself. */
function patternOf(pattern: string): RegExp {
  const source = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${source.join('[^]*')}$`, 'u');
}
