import {
  type AcpExecutorOptions,
  createAcpExecutor,
  createPermissionPolicy,
  type Executor,
  type JobServer,
  PermissionFileError,
  readPermissionFile,
} from '@signalbox/agent';
import { type Command, Option } from 'commander';
import { CliError } from '../../cli-error.ts';
import { parseDurationMs } from '../../duration.ts';
import { exitCodes } from '../../exit-codes.ts';

/** The options of `agent start` for a tool that speaks the Agent Client Protocol. */
export interface AcpChoice {
  acp?: string;
  model?: string;
  mode?: string;
  effort?: string;
  permissions?: string;
  shareApprovals?: NonNullable<AcpExecutorOptions['shareApprovals']>;
  shareChanges?: NonNullable<AcpExecutorOptions['shareChanges']>;
  hold?: number;
}

const onlyWithAcp = {
  mode: '--mode',
  effort: '--effort',
  permissions: '--permissions',
  shareApprovals: '--share-approvals',
  shareChanges: '--share-changes',
} as const;

export function addAcpOptions(program: Command): void {
  program
    .option(
      '--acp <tool>',
      'claude, codex, opencode, gemini, or the command of any tool that speaks ACP',
    )
    .option('--mode <name>', 'the mode of its sessions')
    .option('--effort <level>', 'how hard its model thinks')
    .option('--permissions <file>', 'rules for what it may do without asking a person')
    .option(
      '--hold <time>',
      'how long a question waits for a person (default: 5m)',
      parseDurationMs,
    )
    .addOption(
      new Option(
        '--share-approvals <extent>',
        'what people see of an action (default: command)',
      ).choices(['full', 'command', 'digest']),
    )
    .addOption(
      new Option(
        '--share-changes <extent>',
        'what the log shows of changes (default: stat)',
      ).choices(['names', 'stat', 'patch']),
    );
}

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
  return createAcpExecutor({
    ...{ agent, model, mode, effort, jobServer },
    permissions: createPermissionPolicy(await readRules(choice.permissions)),
    ...(shareApprovals === undefined ? {} : { shareApprovals }),
    ...(shareChanges === undefined ? {} : { shareChanges }),
  });
}

async function readRules(file: string | undefined) {
  if (file === undefined) return [];
  try {
    return await readPermissionFile(file);
  } catch (error) {
    if (!(error instanceof PermissionFileError)) throw error;
    throw new CliError(exitCodes.usage, 'PERMISSIONS_INVALID', error.message, { cause: error });
  }
}
