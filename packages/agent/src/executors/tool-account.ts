import { createHash } from 'node:crypto';

/** The subject of a provider's failure: a tool, the login that it uses, and a model. */
export interface ToolAccount {
  tool: string;
  /** A hash of what names the login. It stays in this process. */
  login: string;
  /** '' is the tool's own default. */
  model: string;
}

/** The variables by which a tool chooses its login, key or provider. */
const namesOf: Readonly<Record<string, RegExp>> = {
  claude: /^(ANTHROPIC|CLAUDE|AWS|GOOGLE|CLOUD_ML|VERTEX)_/,
  codex: /^(CODEX|OPENAI)_/,
  gemini: /^(GEMINI|GOOGLE)_/,
};
/** Of a tool that is not known. */
const commonNames = /_(API_KEY|TOKEN|BASE_URL|HOME|CONFIG_DIR)$/;
/** Where tools keep their logins by default. */
const homes = ['HOME', 'XDG_CONFIG_HOME'];

/** Identifies a login by the variables and directories that a tool reads it from. */
export function loginOf(tool: string, env: NodeJS.ProcessEnv): string {
  const pattern = namesOf[tool] ?? commonNames;
  const named = Object.entries(env)
    .filter(([name, value]) => value !== undefined && (homes.includes(name) || pattern.test(name)))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(named)).digest('hex').slice(0, 16);
}
