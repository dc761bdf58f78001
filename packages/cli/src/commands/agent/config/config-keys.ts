import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import {
  acpAdapters,
  acpAgentNames,
  CHECK_COMMAND_CHARS_MAX,
  CHECK_LIMIT_MS_MAX,
  CHECKS_MAX,
  type CheckCommand,
  claudePermissionModes,
  codexSandboxes,
  isSetupPath,
  landingWays,
  PermissionFileError,
  type PermissionRule,
  parsePermissionRule,
  promptWays,
  reachesJobs,
  SESSION_PLACEHOLDER,
  SETUP_COMMANDS_MAX,
  SETUP_FILE,
  SETUP_PATHS_MAX,
  SETUP_PORTS_MAX,
  type SetupCommand,
} from '@signalbox/agent';
import { isolationRungs, LEASE_MS_MAX, LEASE_MS_MIN } from '@signalbox/contract';
import { InvalidArgumentError } from 'commander';
import { isMap, isScalar, isSeq } from 'yaml';
import { normalizeUrl } from '../../../hub/hub-session.ts';
import { renamedKeys } from '../../../old-names.ts';
import { parseDurationMs } from '../../../terminal/duration.ts';
import { canAskPeople, ownToolName, type Permissions, toolProtocols } from '../choose-executor.ts';
import {
  listOf,
  mapOf,
  type Place,
  type Setting,
  type Settings,
  type Sourced,
  scalar,
  textsByName,
} from './setting-reader.ts';

/** The keys of the agent's configuration file. Flags of `agent start` are named as their keys. */

const text = scalar('a text', (value) => (value.trim() === '' ? undefined : value));

const toggle = scalar('true or false', (value) => {
  if (value === 'true') return true;
  return value === 'false' ? false : undefined;
});

function oneOf<const T extends string>(values: readonly T[]): Setting<T> {
  return scalar(`one of ${values.join(', ')}`, (value) => values.find((each) => each === value));
}

const duration = scalar('a time with a unit, such as 90s, 10m, 1h30m or 2d', (value) =>
  ifValid(() => parseDurationMs(value)),
);

const lease = scalar('a time from 1s to 24h', (value) => {
  const leaseMs = ifValid(() => parseDurationMs(value));
  return leaseMs !== undefined && leaseMs >= LEASE_MS_MIN && leaseMs <= LEASE_MS_MAX
    ? leaseMs
    : undefined;
});

const url = scalar('the address of a hub, such as https://signalbox.acme.dev', (value) =>
  ifValid(() => normalizeUrl(value)),
);

const jobs = scalar('an integer from 1 to 1000', (value) =>
  /^\d{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= 1_000
    ? Number(value)
    : undefined,
);

const warmWorktrees = scalar('an integer from 0 to 1000', (value) =>
  /^\d{1,4}$/.test(value) && Number(value) <= 1_000 ? Number(value) : undefined,
);

/** A path, relative to the directory of the file. */
const path: Setting<string> = {
  read(node, place) {
    const value = text.read(node, place);
    return resolvePath(value, place.file);
  },
};

function resolvePath(value: string, file: string): string {
  if (value === '~' || value.startsWith('~/')) return join(homedir(), value.slice(1));
  return isAbsolute(value) ? value : resolve(dirname(file), value);
}

function ifValid<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    const isMistake = error instanceof InvalidArgumentError || error instanceof SyntaxError;
    if (isMistake || (error as Error).name === 'CliError') return undefined;
    throw error;
  }
}

const rule: Setting<PermissionRule> = {
  read(node, place) {
    const line = text.read(node, place);
    try {
      return parsePermissionRule(line);
    } catch (error) {
      if (!(error instanceof PermissionFileError)) throw error;
      return place.refuse(node, `a rule: ${error.message.replace(/\.$/, '')}`);
    }
  },
};

const permissions: Setting<Permissions> = {
  read(node, place) {
    if (isSeq(node)) {
      return {
        rules: listOf(rule)
          .read(node, place)
          .map(({ value }) => value),
      };
    }
    if (isScalar(node) && !String(node.value).includes('\n')) {
      return { file: path.read(node, place) };
    }
    return place.refuse(node, 'a file or a list of rules');
  },
};

const checkCommand = scalar('a command of at most 2000 characters', (value) =>
  value.trim() !== '' && value.length <= CHECK_COMMAND_CHARS_MAX ? value : undefined,
);

const checkLimit = scalar('a time up to 24h', (value) => {
  const limitMs = ifValid(() => parseDurationMs(value));
  return limitMs !== undefined && limitMs > 0 && limitMs <= CHECK_LIMIT_MS_MAX
    ? limitMs
    : undefined;
});

const checkMap = mapOf(
  { command: checkCommand, name: text, 'time-limit': checkLimit },
  {},
  ({ command }, place, node) => {
    if (command === undefined) place.report(node, `${place.key} must have a command.`);
  },
);

/** A command, or a map with a name and a time limit of its own. */
const check: Setting<CheckCommand> = {
  read(node, place) {
    if (!isMap(node)) return { command: checkCommand.read(node, place) };
    const { command, name, 'time-limit': limit } = checkMap.read(node, place);
    return {
      command: command?.value ?? '',
      ...(name === undefined ? {} : { name: name.value }),
      ...(limit === undefined ? {} : { timeLimitMs: limit.value }),
    };
  },
};

const checks: Setting<Sourced<CheckCommand>[]> = {
  read(node, place) {
    const list = listOf(check).read(node, place);
    return list.length <= CHECKS_MAX ? list : place.refuse(node, `at most ${CHECKS_MAX} checks`);
  },
};

const setupPath = scalar('a path in the repository, such as .env', (value) =>
  isSetupPath(value) ? value : undefined,
);

const setupPaths: Setting<Sourced<string>[]> = {
  read(node, place) {
    const list = listOf(setupPath).read(node, place);
    const isFew = list.length <= SETUP_PATHS_MAX;
    return isFew ? list : place.refuse(node, `at most ${SETUP_PATHS_MAX} paths`);
  },
};

const keptCommand = mapOf(
  { command: checkCommand, key: setupPaths, keep: setupPaths },
  {},
  ({ command, key, keep }, place, node) => {
    if (command && key?.value.length && keep?.value.length) return;
    place.report(node, `${place.key} must have a command, its key and what to keep.`);
  },
);

/** A command, or a map with what is kept of it. */
const setupCommand: Setting<SetupCommand> = {
  read(node, place) {
    if (!isMap(node)) return { command: checkCommand.read(node, place) };
    const { command, key, keep } = keptCommand.read(node, place);
    const paths = (list: typeof key) => list?.value.map(({ value }) => value) ?? [];
    return { command: command?.value ?? '', key: paths(key), keep: paths(keep) };
  },
};

/** One value, or a list of them. */
function oneOrMore<T>(setting: Setting<T>): Setting<Sourced<T>[]> {
  return {
    read(node, place) {
      if (!isSeq(node)) return [{ value: setting.read(node, place), from: place.of(node) }];
      const list = listOf(setting).read(node, place);
      const isFew = list.length <= SETUP_COMMANDS_MAX;
      return isFew ? list : place.refuse(node, `at most ${SETUP_COMMANDS_MAX} commands`);
    },
  };
}

const ports = scalar(`an integer from 0 to ${SETUP_PORTS_MAX}`, (value) =>
  /^\d{1,2}$/.test(value) && Number(value) <= SETUP_PORTS_MAX ? Number(value) : undefined,
);

const setupSteps = {
  run: oneOrMore(setupCommand),
  ports,
  database: toggle,
  teardown: oneOrMore(checkCommand),
};

const setupKeys = {
  from: oneOf(['repository']),
  copy: setupPaths,
  link: setupPaths,
  ...setupSteps,
};

const setup = mapOf(setupKeys, {}, ({ from, copy: _copy, link: _link, ...steps }, place) => {
  if (from === undefined) return;
  for (const [key, given] of Object.entries(steps)) {
    const sentence = `comes from ${SETUP_FILE} with ${place.key}.from; delete it here.`;
    place.reportAt(given.from, `${place.key}.${key} ${sentence}`);
  }
});

/** A commit is written by everybody who can merge, so it does not choose files of the clone. */
const fileOfClone = 'under setup in agent.yaml, because it names files of the clone';

/** The file that a repository has in its commits. */
export const committedSetup = mapOf(setupSteps, { copy: fileOfClone, link: fileOfClone });

const environment = textsByName((name) => {
  if (!/^[A-Za-z_]\w*$/.test(name)) return 'must be the name of a variable';
  return reachesJobs(name) ? null : 'does not reach jobs: Signalbox sets or removes it';
});

/** A pattern with one group. An empty alternative matches every text, so it shows the groups. */
const sessionPattern = scalar(
  'a regular expression with one group, such as "session: (.+)"',
  (value) => ifValid(() => (new RegExp(`${value}|`).exec('')?.length === 2 ? value : undefined)),
);

const toolKeys = {
  name: text,
  command: text,
  prompt: oneOf(promptWays),
  resume: text,
  session: sessionPattern,
  protocol: oneOf(toolProtocols),
  model: text,
  mode: text,
  effort: text,
  allow: listOf(text),
  'permission-mode': oneOf(claudePermissionModes),
  sandbox: oneOf(codexSandboxes),
  'trust-repository': toggle,
};

/** Settings of a tool's own command line, by the tool that has them. */
const commandLineKeys: Readonly<Partial<Record<keyof typeof toolKeys, string>>> = {
  allow: 'claude',
  'permission-mode': 'claude',
  'trust-repository': 'claude',
  sandbox: 'codex',
};

const tool = mapOf(toolKeys, renamedKeys.tool, (values, place, node) => {
  if (values.command !== undefined) return checkOwnTool(values, values.command, place);
  const { name, protocol, model, mode, effort } = values;
  const isCommand = name !== undefined && !acpAgentNames.includes(name.value);
  const choice = { name: name?.value, protocol: protocol?.value };
  const report = (from: string, key: string, rest: string) =>
    place.reportAt(from, `${place.key}.${key} ${rest}`);
  if (
    protocol?.value === 'cli' &&
    name !== undefined &&
    !isCommand &&
    !(name.value in acpAdapters)
  ) {
    report(protocol.from, 'protocol', `must be acp for ${name.value}.`);
  }
  if (isCommand && protocol?.value !== 'acp' && model !== undefined) {
    report(model.from, 'model', 'does not reach a command; delete it.');
  }
  for (const [key, given] of Object.entries({ mode, effort })) {
    if (given === undefined || canAskPeople(choice)) continue;
    report(given.from, key, `needs ${place.key}.protocol: acp.`);
  }
  for (const [key, owner] of Object.entries(commandLineKeys)) {
    const given = values[key as keyof typeof toolKeys];
    if (given === undefined || (name?.value === owner && protocol?.value === 'cli')) continue;
    report(given.from, key, `needs ${place.key}.name: ${owner} and ${place.key}.protocol: cli.`);
  }
  for (const key of ownToolKeys) {
    const given = values[key];
    if (given !== undefined) report(given.from, key, `needs ${place.key}.command.`);
  }
  if (node.items.length === 0) place.report(node, `${place.key} must have a name or a command.`);
});

const ownToolKeys = ['prompt', 'resume', 'session'] as const;

/** A tool that its person describes: what starts it, and what continues its sessions. */
function checkOwnTool(
  values: Settings<typeof toolKeys>,
  command: Sourced<string>,
  place: Place,
): void {
  const { name, resume, session } = values;
  const report = (from: string, key: string, rest: string) =>
    place.reportAt(from, `${place.key}.${key} ${rest}`);
  const known: readonly string[] = ['name', 'command', ...ownToolKeys];
  for (const [key, given] of Object.entries(values)) {
    if (known.includes(key)) continue;
    report(given.from, key, `does not go with ${place.key}.command; delete one of them.`);
  }
  if (!/^[\w.+-]{1,64}$/.test(ownToolName(command.value, name?.value))) {
    const at = name ?? command;
    report(
      at.from,
      name === undefined ? 'command' : 'name',
      'gives no name for jobs to ask for; ' +
        `set ${place.key}.name to letters, digits, dots and dashes.`,
    );
  }
  if (command.value.includes(SESSION_PLACEHOLDER)) {
    const move = `has ${SESSION_PLACEHOLDER}, which belongs into ${place.key}.resume.`;
    report(command.from, 'command', move);
  }
  const isNamed = resume?.value.includes(SESSION_PLACEHOLDER) ?? false;
  if (isNamed && session === undefined && resume !== undefined) {
    const need = `has ${SESSION_PLACEHOLDER}, so ${place.key}.session must say how to find the id.`;
    report(resume.from, 'resume', need);
  }
  if (session !== undefined && !isNamed) {
    report(session.from, 'session', `needs ${SESSION_PLACEHOLDER} in ${place.key}.resume.`);
  }
}

const share = mapOf({
  approvals: oneOf(['full', 'command', 'digest']),
  changes: oneOf(['names', 'stat', 'on-request', 'patch']),
});

const landing = mapOf({ into: text, by: oneOf(landingWays), push: toggle });

/** Settings of a repository. At the top of the file they hold for all repositories. */
const repositoryKeys = {
  tool,
  hold: duration,
  permissions,
  share,
  base: text,
  fetch: toggle,
  setup,
  checks,
  'check-limit': checkLimit,
  'repository-checks': toggle,
  push: toggle,
  pr: toggle,
  landing,
  environment,
};

/** Settings of the agent as a whole. */
const agentKeys = {
  url,
  workspace: text,
  name: text,
  jobs,
  labels: textsByName((name) => (name === '' ? 'must have a name' : null)),
  'read-only': toggle,
  lease,
  'time-limit': duration,
  hooks: path,
  'run-as': text,
  isolation: oneOf(['auto', ...isolationRungs]),
  readable: listOf(path),
  'warm-worktrees': warmWorktrees,
  'state-dir': path,
};

const underTool = Object.fromEntries(Object.keys(toolKeys).map((name) => [name, 'under tool']));
const underShare = { approvals: 'under share', changes: 'under share' };
const underLanding = { into: 'under landing', by: 'under landing' };
const atTop = Object.fromEntries(
  Object.keys(agentKeys).map((name) => [name, 'at the top of the file, to the agent as a whole']),
);

const repository = mapOf(
  { path, id: text, ...repositoryKeys },
  { ...underTool, ...underShare, ...underLanding, ...atTop },
  ({ path: clone, id }, place, node) => {
    if ((clone === undefined) === (id === undefined)) {
      place.report(node, `${place.key} must have either path, a linked clone, or id.`);
    }
  },
);

/** The whole file. */
export const agentConfig = mapOf(
  { ...agentKeys, ...repositoryKeys, repositories: listOf(repository) },
  {
    ...underTool,
    ...underShare,
    ...underLanding,
    path: 'under repositories',
    id: 'under repositories',
  },
  (config, place) => refuseIdle(config, place),
);

export type RepositorySettings = Settings<typeof repositoryKeys>;
export type SetupSettings = Settings<typeof setupKeys>;
export type ToolSettings = Settings<typeof toolKeys>;
export type AgentConfig = ReturnType<(typeof agentConfig)['read']>;

/** Refuses settings that would have no effect. */
function refuseIdle(config: Settings<(typeof agentConfig)['keys']>, place: Place): void {
  if (config.readable !== undefined && config.isolation?.value !== 'wrap') {
    place.reportAt(config.readable.from, 'readable needs isolation: wrap.');
  }
  const repositories = config.repositories?.value ?? [];
  const canAsk = ({ value }: { value: ToolSettings } = { value: {} }) =>
    value.command === undefined &&
    canAskPeople({ name: value.name?.value, protocol: value.protocol?.value });
  if (config.repositories?.value.length === 0) {
    const sentence = 'repositories must have at least one repository.';
    place.reportAt(config.repositories.from, sentence);
  }
  const refuse = (settings: RepositorySettings, prefix: string) => {
    const { permissions: rules, share: shared } = settings;
    const idle = { permissions: rules, 'share.approvals': shared?.value.approvals };
    for (const [key, given] of Object.entries(idle)) {
      if (given === undefined) continue;
      place.reportAt(given.from, `${prefix}${key} needs a tool that asks: see tool.protocol.`);
    }
  };
  const tools = repositories.map(({ value }) => value.tool ?? config.tool);
  if (config.isolation?.value === 'wrap') {
    for (const each of new Set([config.tool, ...tools])) refuseLostSessions(each?.value, place);
  }
  if (repositories.length === 0 ? !canAsk(config.tool) : !tools.some((each) => canAsk(each))) {
    refuse(config, '');
  }
  for (const [index, { value }] of repositories.entries()) {
    if (!canAsk(tools[index])) refuse(value, `repositories[${index}].`);
  }
}

/** A wrapped tool has a home directory for one attempt, except for what known tools keep there. */
function refuseLostSessions(tool: ToolSettings | undefined, place: Place): void {
  if (tool?.command === undefined || tool.resume === undefined) return;
  const name = ownToolName(tool.command.value, tool.name?.value);
  if (acpAgentNames.includes(name)) return;
  const why = `with isolation: wrap, ${name} finds none of its sessions again; delete this key.`;
  place.reportAt(tool.resume.from, `tool.resume has no effect: ${why}`);
}
