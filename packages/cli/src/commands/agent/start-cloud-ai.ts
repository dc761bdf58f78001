import { hostname } from 'node:os';
import {
  AgentAlreadyRunningError,
  type CloudAiProviderName,
  CloudAiProviderRefusedError,
  cloudAiProviderNames,
  createCloudAiProvider,
  startCloudAiAgent,
} from '@signalbox/agent';
import { Option } from 'commander';
import { CliError } from '../../cli-error.ts';
import { addHubOptions, defineCommand, type HubOptions } from '../../command-module.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { type HubSession, openHubSession } from '../../hub/hub-session.ts';
import { hideTokenVariable } from '../../hub/token-variable.ts';
import { parseDurationMs } from '../../terminal/duration.ts';
import type { Io } from '../../terminal/io.ts';
import { parseInteger } from '../../terminal/numbers.ts';
import { printFields } from '../../terminal/table.ts';
import { oneLine } from '../../terminal/text.ts';
import { agentSignals, explainAlreadyRunning } from './agent-signals.ts';
import { agentStateDir } from './choose-clones.ts';
import { createCloudAiLog } from './cloud-ai-log.ts';
import { keyVariables, readProviderOptions } from './cloud-ai-provider.ts';

interface Options extends HubOptions {
  provider: CloudAiProviderName;
  model: [string, ...string[]];
  kind?: string[];
  baseUrl?: string;
  concurrency: number;
  once?: true;
  name: string;
  timeLimit?: number;
  maxOutput?: number;
  stateDir?: string;
}

const keys = Object.entries(keyVariables).map(([name, variable]) => `${variable} (${name})`);

/**
 * `signalbox cloud-ai start`: runs an executor of cloud AI jobs in the foreground, with the
 * provider's key from the environment. Signals work as with `agent start`. With `--json`: a line
 * for each event, `{at, type, …}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    const collect = (value: string, values: string[] = []) => [...values, value];
    program
      .addOption(
        new Option('--provider <name>', 'the provider of the models')
          .choices(cloudAiProviderNames)
          .makeOptionMandatory(),
      )
      .requiredOption(
        '--model <name>',
        'a model to serve; repeatable, the first also runs jobs that name none',
        collect,
      )
      .option('--base-url <url>', "the provider's base URL, with its version")
      .option('--once', 'claim one job, finish it, and exit with its outcome')
      .option('--concurrency <number>', 'concurrent calls', parseInteger({ min: 1, max: 100 }), 1)
      .option('--kind <name>', 'only jobs of this kind; repeatable', collect)
      .option('--time-limit <time>', 'time limit of one job, such as 10m', parseDurationMs)
      .option(
        '--max-output <tokens>',
        'token limit of one answer',
        parseInteger({ min: 1, max: 1_000_000 }),
      )
      .option('--name <text>', 'name of the executor', `${hostname()} cloud AI`)
      .option('--state-dir <dir>', "the executor's own directory; not shared between executors");
  },

  json: 'print a JSON line for each event',
  chooseHub: addHubOptions,
  examples: [
    ['signalbox cloud-ai start --provider anthropic --model claude-sonnet-5', 'Claude'],
    [
      'signalbox cloud-ai start --provider openai-compatible --model qwen3 --base-url http://127.0.0.1:11434/v1',
      'a model on this machine',
    ],
  ],
  notes:
    `The key is read from the environment: ${keys.join(', ')}.\n` +
    'Ctrl-C (or SIGTERM) finishes the current jobs; a second one returns them to the queue and stops.',

  async run({ io: given, options }) {
    const io = { ...given, env: hideTokenVariable(given.env) };
    const provider = readProviderOptions(options, io.env);
    const session = await openHubSession(io, options);
    try {
      return await runExecutor(io, session, options, provider);
    } catch (error) {
      throw explainEnd(error, options.provider);
    }
  },
});

async function runExecutor(
  io: Io,
  session: HubSession,
  options: Options,
  providerOptions: ReturnType<typeof readProviderOptions>,
): Promise<ExitCode> {
  const log = createCloudAiLog(io);
  const signals = agentSignals(log, io.signal);
  const stateDir =
    options.stateDir ?? `${agentStateDir(io.env, session)}-cloud-ai-${options.provider}`;
  const agent = await startCloudAiAgent({
    baseUrl: session.baseUrl,
    token: session.token,
    workspaceId: session.workspaceId,
    displayName: options.name,
    provider: await createCloudAiProvider(providerOptions),
    models: options.model,
    kinds: options.kind,
    stateDir,
    concurrency: options.once ? 1 : options.concurrency,
    jobTimeLimitMs: options.timeLimit,
    outputTokensMax: options.maxOutput,
    secrets: providerOptions.apiKey === undefined ? [] : [providerOptions.apiKey],
    onEvent(event) {
      log.onEvent(event);
      if (options.once && event.type === 'job-claimed') signals.drain();
    },
  });
  if (!io.json) sayStart(io, session, options);
  await signals.untilDone(agent);
  return signals.stopCode() ?? (options.once ? log.resultCode() : exitCodes.ok);
}

function sayStart(io: Io, { workspaceSlug, workspaceId, baseUrl }: HubSession, options: Options) {
  printFields(io, [
    ['Executor', io.styles.bold(oneLine(options.name))],
    ['Workspace', `${workspaceSlug ?? workspaceId} at ${baseUrl}`],
    ['Provider', options.provider],
    ['Models', options.model.join(', ')],
    ['Jobs', options.once ? 'one, then exit' : `${options.concurrency} at a time`],
  ]);
  io.print();
}

function explainEnd(error: unknown, provider: CloudAiProviderName): unknown {
  if (error instanceof AgentAlreadyRunningError) return explainAlreadyRunning(error);
  if (error instanceof CloudAiProviderRefusedError) {
    return new CliError(exitCodes.failed, 'PROVIDER_REFUSED', error.message, {
      fix: `Check ${keyVariables[provider]}, --model and --base-url. The job was returned to the queue.`,
      cause: error,
    });
  }
  return error;
}
