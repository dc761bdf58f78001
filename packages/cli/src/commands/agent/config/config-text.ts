import type { SetupCommand } from '@signalbox/agent';
import { formatDuration } from '../../../terminal/duration.ts';
import type { Io } from '../../../terminal/io.ts';
import { printFields, printTable } from '../../../terminal/table.ts';
import { oneLine } from '../../../terminal/text.ts';
import type { AgentPlan, RepositoryPlan } from './agent-plan.ts';
import type { SetupSettings } from './config-keys.ts';
import type { Sourced } from './setting-reader.ts';

/** A setting in force. */
export interface SettingRow {
  /** The repository whose setting it is; null: the agent's, and of all other repositories. */
  repository: string | null;
  key: string;
  /** As the file has it; null: a value of the environment, which may be a secret. */
  value: string | null;
  /** `FILE:LINE`, a flag, or `default`. */
  from: string;
}

/** Lists what is in force. A repository shows only what differs from the agent's settings. */
export function rowsOf(plan: AgentPlan): SettingRow[] {
  const common = repositoryRows(plan.general);
  const rows = [...agentRows(plan), ...common].map((row) => ({ repository: null, ...row }));
  const known = new Set(common.map(nameOf));
  const own = (plan.repositories ?? []).flatMap(({ reference, plan: each }) => {
    const named = { key: 'path', value: reference.value, from: reference.from };
    const different = repositoryRows(each).filter((row) => !known.has(nameOf(row)));
    return [named, ...different].map((row) => ({ repository: reference.value, ...row }));
  });
  return [...rows, ...own];
}

type Row = Omit<SettingRow, 'repository'>;

const nameOf = ({ key, value, from }: Row) => JSON.stringify([key, value, from]);

function agentRows(plan: AgentPlan): Row[] {
  return [
    row('url', plan.url),
    row('workspace', plan.workspace),
    row('name', plan.name),
    row('jobs', plan.jobs),
    ...Object.entries(plan.labels).flatMap(([name, label]) => row(`labels.${name}`, label)),
    row('read-only', plan.readOnly),
    row('lease', plan.lease, timeText),
    row('time-limit', plan.timeLimit, timeText),
    row('hooks', plan.hooks),
    row('run-as', plan.runAs),
    row('isolation', plan.isolation),
    ...plan.readable.map((path) => row('readable', path)),
    row('warm-worktrees', plan.warmWorktrees),
    row('state-dir', plan.stateDir),
  ].flat();
}

function repositoryRows(plan: RepositoryPlan): Row[] {
  const { tool, permissions, environment } = plan;
  const { allow, ...single } = tool;
  return [
    tool.name === undefined
      ? [{ key: 'tool.name', value: 'the first on the PATH', from: 'default' }]
      : [],
    ...Object.entries<Sourced<string | boolean> | undefined>(single).map(([name, value]) =>
      row(`tool.${name}`, value),
    ),
    ...(allow?.value ?? []).map((each) => row('tool.allow', each)),
    row('hold', plan.hold, timeText),
    ...permissions.map(({ value, from }) =>
      'file' in value
        ? row('permissions', { value: value.file, from })
        : value.rules.flatMap(({ verdict, what, pattern }) =>
            row('permissions', { value: `${verdict} ${what} ${pattern}`.trim(), from }),
          ),
    ),
    row('share.approvals', plan.shareApprovals),
    row('share.changes', plan.shareChanges),
    row('base', plan.base),
    row('fetch', plan.fetch),
    ...setupRows(plan.setup),
    ...plan.checks.map(({ value: { command, name, timeLimitMs }, from }) => {
      const limit = timeLimitMs === undefined ? '' : ` (${timeText(timeLimitMs)})`;
      const value = `${name === undefined ? '' : `${name}: `}${command}${limit}`;
      return [{ key: 'checks', value, from }];
    }),
    row('check-limit', plan.checkLimit, timeText),
    row('repository-checks', plan.repositoryChecks),
    row('push', plan.push),
    row('pr', plan.pullRequest),
    row('landing.into', plan.landInto),
    row('landing.by', plan.landBy),
    row('landing.push', plan.pushBase),
    ...Object.entries(environment).map(([name, { from }]) => [
      { key: `environment.${name}`, value: null, from },
    ]),
  ].flat();
}

function setupRows(settings: SetupSettings): Row[][] {
  const { from, copy, link, run, ports, database, teardown } = settings;
  return [
    row('setup.from', from),
    ...(copy?.value ?? []).map((path) => row('setup.copy', path)),
    ...(link?.value ?? []).map((path) => row('setup.link', path)),
    ...(run?.value ?? []).map((step) => row('setup.run', step, stepText)),
    row('setup.ports', ports),
    row('setup.database', database),
    ...(teardown?.value ?? []).map((line) => row('setup.teardown', line)),
  ];
}

function stepText({ command, key, keep }: SetupCommand): string {
  if (keep === undefined || key === undefined) return command;
  return `${command} (keeps ${keep.join(', ')} by ${key.join(', ')})`;
}

function row<T>(
  key: string,
  sourced: Sourced<T> | undefined,
  text = String as (value: T) => string,
) {
  if (sourced === undefined) return [];
  return [{ key, value: text(sourced.value), from: sourced.from }];
}

const timeText = (timeMs: number) => formatDuration(timeMs).replace(' ', '');

/** Prints what is in force as tables: one for the agent, one for each repository. */
export function printPlan(io: Io, plan: AgentPlan, defaultFile: string): void {
  const { bold, dim } = io.styles;
  const file = plan.file ?? dim(`none; create ${defaultFile}`);
  printFields(io, [['Configuration', file]]);
  const rows = rowsOf(plan);
  for (const repository of new Set(rows.map((each) => each.repository))) {
    io.print();
    io.print(bold(repository === null ? 'Agent' : `Repository ${oneLine(repository)}`));
    printTable<SettingRow>(
      io,
      [
        { title: 'KEY', text: ({ key }) => oneLine(key) },
        {
          title: 'VALUE',
          text: ({ value }) => (value === null ? '(not shown)' : oneLine(value)),
          isFlexible: true,
        },
        { title: 'FROM', text: ({ from }) => shortOrigin(from, plan.file), style: dim },
      ],
      rows.filter((each) => each.repository === repository),
    );
  }
  if (plan.repositories === null) {
    io.print();
    io.print(dim('It works on all clones that are linked to the workspace.'));
  }
}

/** The file is named above the tables. */
function shortOrigin(from: string, file: string | null): string {
  return file !== null && from.startsWith(`${file}:`)
    ? `line ${from.slice(file.length + 1)}`
    : from;
}
