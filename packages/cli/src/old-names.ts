/**
 * Names that were in use before, and what replaces each. They are answered for one release, as a
 * usage error, and then this file goes.
 */

/** Commands by their words. */
const renamedCommands: Readonly<Record<string, string>> = {
  'agent config': 'agent start --dry-run',
  'agent install': 'agent service install',
  'agent uninstall': 'agent service remove',
  'agent status': 'agent service status',
  'tokens mint': 'tokens create',
  'admin member add': 'admin members invite',
  'admin token create': 'admin tokens create',
};

const inFile = (key: string) => `the key ${key} of agent.yaml`;

/** Flags by the command that had them. */
const renamedFlags: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'agent start': {
    '--executor': '--tool',
    '--command': '--tool',
    '--acp': '--tool',
    '--no-config': '--config /dev/null',
    ...Object.fromEntries(
      ['allow', 'permission-mode', 'sandbox', 'trust-repository', 'mode', 'effort'].map((key) => [
        `--${key}`,
        inFile(`tool.${key}`),
      ]),
    ),
    '--share-approvals': inFile('share.approvals'),
    '--share-changes': inFile('share.changes'),
    ...Object.fromEntries(
      [
        ...['permissions', 'hold', 'base', 'fetch', 'read-only', 'lease', 'time-limit', 'hooks'],
        ...['run-as', 'state-dir', 'check-limit', 'repository-checks'],
      ].map((key) => [`--${key}`, inFile(key)]),
    ),
  },
  'queue pause': { '--repo': 'signalbox repo pause' },
  'queue resume': { '--repo': 'signalbox repo resume' },
};

/** Keys of the agent's configuration file: where each belongs now. */
export const renamedKeys = {
  tool: {
    acp: 'in name',
    command: 'in name',
    executor: 'in name, with protocol: cli',
  },
} as const;

/** Finds the command that replaces an old one of a line; null if the line has no old one. */
export function newCommandOf(argv: readonly string[]): { before: string; after: string } | null {
  const words = argv.filter((word) => !word.startsWith('-')).join(' ');
  const before = Object.keys(renamedCommands).find((old) => `${words} `.startsWith(`${old} `));
  return before === undefined ? null : { before, after: renamedCommands[before] ?? '' };
}

/** Finds the flag or key that replaces one that a command had before; null if it never had it. */
export function newFlagOf(words: readonly string[], flag: string): string | null {
  return renamedFlags[words.join(' ')]?.[flag] ?? null;
}
