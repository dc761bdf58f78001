/** Settings of the agent and of a hub on the same machine. Both may contain tokens. */
const privatePrefixes = ['SIGNALBOX_', 'SVC_'];

/**
 * Git variables that configure access to a remote. All others (`GIT_DIR`, `GIT_INDEX_FILE`, …)
 * would redirect git to the repository of the process that started the agent, such as a git hook.
 */
const transportVariables = /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|PROXY_COMMAND|SSL_.*)$/;

/**
 * Returns the person's environment without the agent's settings, without every variable that
 * contains the agent's token, and without git's variables, which would redirect the job to another
 * repository.
 */
export function cleanEnvironment(
  env: NodeJS.ProcessEnv,
  agentToken: string | undefined,
): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) =>
      !privatePrefixes.some((prefix) => name.startsWith(prefix)) &&
      (!name.startsWith('GIT_') || transportVariables.test(name)),
  );
  return withoutToken(Object.fromEntries(kept), agentToken);
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
