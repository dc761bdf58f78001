import {
  type AcpExecutorOptions,
  createAcpExecutor,
  createPermissionPolicy,
  type Executor,
  type JobServer,
  PermissionFileError,
  type PermissionRule,
  readPermissionFile,
} from '@signalbox/agent';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';

/** Rules of permission: a file of them, or rules of the configuration file. */
export type Permissions = { file: string } | { rules: readonly PermissionRule[] };

/** The choice of a tool that speaks the Agent Client Protocol. */
export interface AcpChoice {
  acp?: string | undefined;
  model?: string | undefined;
  mode?: string | undefined;
  effort?: string | undefined;
  /** In order: the first rule that matches decides. */
  permissions?: readonly Permissions[];
  shareApprovals?: NonNullable<AcpExecutorOptions['shareApprovals']>;
  shareChanges?: NonNullable<AcpExecutorOptions['shareChanges']>;
  hold?: number;
}

const onlyWithAcp = {
  mode: '--mode',
  effort: '--effort',
  permissions: '--permissions',
  shareApprovals: '--share-approvals',
} as const;

/**
 * The executor of `--acp`; null without that option.
 * @throws {CliError} USAGE, PERMISSIONS_INVALID.
 */
export async function chooseAcp(choice: AcpChoice, jobServer: JobServer): Promise<Executor | null> {
  const { acp: agent, model, mode, effort, shareApprovals, shareChanges } = choice;
  if (agent === undefined) {
    const wrong = Object.entries(onlyWithAcp).find(
      ([name]) => choice[name as keyof AcpChoice] !== undefined,
    );
    if (wrong === undefined) return null;
    throw new CliError(exitCodes.usage, 'USAGE', `${wrong[1]} needs --acp.`);
  }
  const rules: PermissionRule[] = [];
  for (const each of choice.permissions ?? []) rules.push(...(await readRules(each)));
  return createAcpExecutor({
    ...{ agent, model, mode, effort, jobServer },
    permissions: createPermissionPolicy(rules),
    ...(shareApprovals === undefined ? {} : { shareApprovals }),
    ...(shareChanges === undefined ? {} : { shareChanges }),
  });
}

async function readRules(given: Permissions): Promise<readonly PermissionRule[]> {
  if ('rules' in given) return given.rules;
  try {
    return await readPermissionFile(given.file);
  } catch (error) {
    if (!(error instanceof PermissionFileError)) throw error;
    throw new CliError(exitCodes.usage, 'PERMISSIONS_INVALID', error.message, { cause: error });
  }
}
