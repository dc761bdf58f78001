import { delimiter } from 'node:path';

/** Settings of the agent and of a hub on the same machine. Both may contain tokens. */
const privatePrefixes = ['SIGNALBOX_', 'SVC_'];

/**
 * Git variables that configure access to a remote. All others (`GIT_DIR`, `GIT_INDEX_FILE`, …)
 * would redirect git to the repository of the process that started the agent, such as a git hook.
 */
const transportVariables = /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|PROXY_COMMAND|SSL_.*)$/;

/**
 * Variables of the npm that started this process. They are about Signalbox's own installation: its
 * `.npmrc` would keep `npm install` in a job from building native modules.
 */
const npmVariables = /^(npm_.*|INIT_CWD|NODE)$/i;

/** Directories that npm puts before the PATH (`@npmcli/run-script`). */
const npmDirectory = /[\\/](node_modules[\\/]\.bin|node-gyp-bin)$/;

/** Whether a variable reaches jobs; all others are left out of their environment. */
export function reachesJobs(name: string): boolean {
  const isPrivate = privatePrefixes.some((prefix) => name.startsWith(prefix));
  return !isPrivate && (!name.startsWith('GIT_') || transportVariables.test(name));
}

/**
 * Returns the person's environment without the agent's settings, without every variable that
 * contains the agent's token, and without git's variables, which would redirect the job to another
 * repository.
 */
export function cleanEnvironment(
  env: NodeJS.ProcessEnv,
  agentToken: string | undefined,
): NodeJS.ProcessEnv {
  const kept = Object.entries(withoutNpm(env)).filter(([name]) => reachesJobs(name));
  return withoutToken(Object.fromEntries(kept), agentToken);
}

/**
 * Undoes what `npx` and `npm run` add to an environment: their variables, and the directories of
 * packages that they put before the person's PATH.
 */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.npm_execpath === undefined) return env;
  const kept = Object.entries(env).filter(([name]) => !npmVariables.test(name));
  const directories = (env.PATH ?? '').split(delimiter);
  const own = directories.findIndex((path) => !npmDirectory.test(path));
  const PATH = directories.slice(Math.max(own, 0)).join(delimiter);
  return { ...Object.fromEntries(kept), PATH };
}

/** Also applied after hooks changed the environment: no tool may receive the agent's token. */
export function withoutToken(
  env: NodeJS.ProcessEnv,
  agentToken: string | undefined,
): NodeJS.ProcessEnv {
  if (agentToken === undefined || agentToken === '') return env;
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => !value?.includes(agentToken)),
  );
}
