import {
  type AgentCommand,
  type AnswerOf,
  type ErrorCode,
  endpoints,
  JOB_LOG_ENTRIES_MAX,
  type OutputResult,
  type RenewalResult,
  type RequestInput,
} from '@signalbox/contract';
import { listCommands, storedCapabilities, writeHeartbeat } from '../agents/heartbeat.ts';
import { requireAgent } from '../agents/require-agent.ts';
import { readAgentOwner } from '../agents/store.ts';
import { HubError, invalidField } from '../base/errors.ts';
import type { RequestContext } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { appendWithin } from './append-log.ts';
import { renewJobWithin } from './renew.ts';

type ReportInput = RequestInput<typeof endpoints.agents.report.request>;
type ReportAnswer = AnswerOf<typeof endpoints.agents.report>;
/** Validation has filled in the defaults of each item; RequestInput says so of the top only. */
type Heartbeat = Omit<RequestInput<typeof endpoints.agents.heartbeat.request>, 'workspaceId'>;
type Renewal = Omit<
  RequestInput<typeof endpoints.jobs.heartbeat.request>,
  'workspaceId' | 'agentId'
>;

/** The refusals of single calls; every other error is about the report as a whole. */
const itemRefusals: ReadonlySet<string> = new Set([
  ...endpoints.jobs.heartbeat.errors,
  ...endpoints.jobEvents.append.errors,
]);

/** An item of a report that is refused. */
interface Refused {
  jobId: string;
  error: ErrorCode;
  message: string;
  retryAfterMs?: number;
}

/**
 * Takes a heartbeat, renewals and output of one agent, in one transaction. An item that is refused
 * writes nothing and does not prevent the others.
 *
 * @throws HubError AGENT_NOT_FOUND, INVALID_REQUEST, RATE_LIMITED
 */
export function takeReport(
  deps: HubDeps,
  context: RequestContext,
  input: ReportInput,
): Promise<ReportAnswer> {
  const { workspaceId, agentId, outputs } = input;
  const { principal } = context;
  const heartbeat = input.heartbeat as Heartbeat | undefined;
  const renewals = input.renewals as Renewal[];
  requireFewEntries(outputs);
  const capabilities =
    heartbeat && storedCapabilities(heartbeat.capabilities, '/heartbeat/capabilities');
  context.pay({ units: renewals.length, isLease: true });
  const unpaid = refusalToPay(context, outputs.length);
  const jobIds = new Set([...renewals, ...outputs].map(({ jobId }) => jobId));
  const keys = heartbeat === undefined ? [...jobIds] : [...jobIds, heartbeat.machineFingerprint];
  return deps.database.writeConcurrent({ workspaceId, keys }, async (tx) => {
    requireAgent(await readAgentOwner(tx, workspaceId, agentId), principal);
    const held = { workspaceId, agentId };
    const beat =
      heartbeat === undefined
        ? null
        : await writeHeartbeat(deps, tx, principal, {
            ...heartbeat,
            workspaceId,
            capabilities: capabilities ?? '{}',
          });
    const renewalResults: RenewalResult[] = [];
    for (const renewal of renewals) {
      const renew = () => renewJobWithin(tx, principal, { ...renewal, ...held });
      renewalResults.push(await settle(renewal.jobId, renew));
    }
    const outputResults: OutputResult[] = [];
    for (const output of outputs) {
      const append = () => appendWithin(tx, principal, { ...output, ...held });
      const { jobId } = output;
      outputResults.push(unpaid === null ? await settle(jobId, append) : refused(jobId, unpaid));
    }
    const hasCommands = beat !== null || renewals.length > 0;
    return {
      ...(beat !== null && {
        heartbeat: { agentId: beat.agentId, intervalMs: beat.intervalMs },
      }),
      commands: hasCommands ? await commandsFor(tx, input, beat?.commands ?? []) : [],
      renewals: renewalResults,
      outputs: outputResults,
    };
  });
}

async function commandsFor(
  tx: Tx,
  { workspaceId, agentId }: ReportInput,
  standing: readonly AgentCommand[],
): Promise<AgentCommand[]> {
  return [...(await listCommands(tx, workspaceId, agentId)), ...standing];
}

function requireFewEntries(outputs: ReportInput['outputs']): void {
  const entries = outputs.reduce((sum, output) => sum + output.entries.length, 0);
  if (entries <= JOB_LOG_ENTRIES_MAX) return;
  throw invalidField('/outputs', `must have at most ${JOB_LOG_ENTRIES_MAX} entries together`);
}

/**
 * Pays for output as single appends do. A caller that sends too much of it must not lose a lease,
 * so the renewals of the report count all the same.
 */
function refusalToPay(context: RequestContext, outputs: number): HubError | null {
  try {
    context.pay({ units: outputs, isLease: false });
    return null;
  } catch (error) {
    if (error instanceof HubError && error.code === 'RATE_LIMITED') return error;
    throw error;
  }
}

/** Runs an item, which refuses before it writes. */
async function settle<Result extends object>(
  jobId: string,
  act: () => Promise<Result>,
): Promise<({ jobId: string } & Result) | Refused> {
  try {
    return { jobId, ...(await act()) };
  } catch (error) {
    if (error instanceof HubError && itemRefusals.has(error.code)) return refused(jobId, error);
    throw error;
  }
}

function refused(jobId: string, { code, message, retryAfterMs }: HubError): Refused {
  return { jobId, error: code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
