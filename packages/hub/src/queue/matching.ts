import {
  type AgentCapabilities,
  type JobKind,
  RequiredCapabilities,
  writingJobKinds,
} from '@signalbox/contract';
import { compileLater } from '../base/compile-later.ts';
import { invalidField } from '../base/errors.ts';

/** The capabilities that a lane requires of an agent; absent ones are not required. */
export interface Needs {
  executionMode?: string;
  /** The agent needs it for the repository of the lane. */
  tool?: string;
  /** The agent needs one of them, for that tool if there is one. */
  models?: string[];
  write?: true;
  network?: true;
  /** A rung that its tool for the repository of the lane has. */
  isolation?: string;
  /** The agent needs all of them. */
  labels?: Record<string, string>;
}

/** Of the canonical JSON. Claims compare it with each agent, so it is kept short. */
export const REQUIREMENTS_BYTES_MAX = 2_048;

const requiredCapabilities = compileLater(RequiredCapabilities);

/**
 * Reads required capabilities from a job's `requirements`
 * (docs/reference/protocol.md, section 4.3): from an object, or from JSON text of one. Other text
 * is for the agent to read and requires nothing.
 *
 * @throws HubError INVALID_REQUEST when a known key has a value of the wrong type.
 */
export function needsOf(kind: JobKind, requirements: unknown): Needs {
  const asked = asObject(requirements) ?? {};
  if (!requiredCapabilities().Check(asked)) {
    const first = requiredCapabilities().Errors(asked)[0];
    throw invalidField(
      `/requirements${first?.instancePath ?? ''}`,
      first?.message ?? 'must be of the documented form',
    );
  }
  const needs = needsOfAsked(kind, asked);
  if (Buffer.byteLength(JSON.stringify(needs)) > REQUIREMENTS_BYTES_MAX) {
    throw invalidField(
      '/requirements',
      `must require capabilities of at most ${REQUIREMENTS_BYTES_MAX} bytes of JSON`,
    );
  }
  return needs;
}

/**
 * Whether the tool of a job may change files. A job may need an agent that can write without being
 * allowed to write itself: `writeRequired: true` with `canWrite: false`.
 */
export function mayWrite(kind: JobKind, requirements: unknown): boolean {
  const asked = asObject(requirements) ?? {};
  const said = asked.canWrite ?? asked.writeRequired;
  return typeof said === 'boolean' ? said : writingJobKinds.includes(kind);
}

/** The tool and the model that requirements name, which `needsOf` has accepted. */
export function toolAsked(requirements: unknown): { tool: string | null; model: string | null } {
  const { tool = null, model = null } = (asObject(requirements) ?? {}) as RequiredCapabilities;
  return { tool, model };
}

function needsOfAsked(kind: JobKind, asked: RequiredCapabilities): Needs {
  const write = asked.writeRequired === true || mayWrite(kind, asked);
  const models = asked.models ?? (asked.model === undefined ? [] : [asked.model]);
  return {
    ...(asked.executionMode === undefined ? {} : { executionMode: asked.executionMode }),
    ...(asked.tool === undefined ? {} : { tool: asked.tool }),
    ...(models.length === 0 ? {} : { models: [...models].sort() }),
    ...(write ? { write: true } : {}),
    ...(asked.networkRequired === true ? { network: true } : {}),
    ...(asked.isolation === undefined ? {} : { isolation: asked.isolation }),
    ...(asked.labels === undefined ? {} : { labels: sortKeys(asked.labels) }),
  };
}

/** Whether a lane requires no more than writing and the network, of which few lanes can be made. */
export function isPlain({ executionMode, tool, models, isolation, labels }: Needs): boolean {
  return [executionMode, tool, models, isolation, labels].every((need) => need === undefined);
}

/**
 * Whether an agent with these capabilities may claim entries of a lane.
 *
 * @param repoId of the lane: an agent may have a tool for some of its repositories.
 */
export function meetsNeeds(capabilities: AgentCapabilities, needs: Needs, repoId: string): boolean {
  if (needs.write && capabilities.canWrite !== true) return false;
  if (needs.network && capabilities.canUseNetwork !== true) return false;
  const { executionMode, labels } = needs;
  if (executionMode !== undefined && !capabilities.executionModes?.includes(executionMode)) {
    return false;
  }
  if (!hasTool(capabilities, needs, repoId)) return false;
  return Object.entries(labels ?? {}).every(
    ([name, value]) => capabilities.labels?.[name] === value,
  );
}

/** Whether an agent offers a tool, one of some models and a rung of isolation with it. */
function hasTool(
  { tools = [], models: named = [] }: AgentCapabilities,
  { tool, models, isolation }: Needs,
  repoId: string,
): boolean {
  if (tool === undefined && models === undefined && isolation === undefined) return true;
  // An agent that names models alone makes model calls, or has no tool that it reports.
  const isModelNamed = models?.some((model) => named.includes(model)) ?? false;
  if (tool === undefined && isolation === undefined && isModelNamed) return true;
  return tools.some(
    (offered) =>
      (tool === undefined || offered.name === tool) &&
      (offered.repoIds?.includes(repoId) ?? true) &&
      (isolation === undefined || (offered.isolation?.includes(isolation) ?? false)) &&
      (models === undefined || models.some((model) => offered.models?.includes(model) ?? true)),
  );
}

/** Each capability that the needs ask for, in words. */
export function describeNeeds(needs: Needs): string[] {
  return splitNeeds(needs).map(([words]) => words);
}

/** The capabilities that an agent lacks, in words. */
export function describeLacking(
  capabilities: AgentCapabilities,
  needs: Needs,
  repoId: string,
): string[] {
  return splitNeeds(needs)
    .filter(([, need]) => !meetsNeeds(capabilities, need, repoId))
    .map(([words]) => words);
}

function splitNeeds(needs: Needs): [string, Needs][] {
  const { write, network, executionMode, tool, models, isolation, labels } = needs;
  const ofTool = tool === undefined ? {} : { tool };
  const parts: [string, Needs][] = [];
  if (write) parts.push(['canWrite', { write }]);
  if (network) parts.push(['canUseNetwork', { network }]);
  if (executionMode !== undefined)
    parts.push([`execution mode ${executionMode}`, { executionMode }]);
  if (tool !== undefined) parts.push([`tool ${tool}`, { tool }]);
  if (models !== undefined) {
    const words = `${models.length === 1 ? 'model' : 'a model of'} ${models.join(', ')}`;
    // A model is one of its tool.
    parts.push([words, { models, ...ofTool }]);
  }
  if (isolation !== undefined) parts.push([`isolation ${isolation}`, { isolation, ...ofTool }]);
  for (const [name, value] of Object.entries(labels ?? {})) {
    parts.push([`label ${name}=${value}`, { labels: { [name]: value } }]);
  }
  return parts;
}

/** Requirements that are an object, or JSON text of one; null for prose and absent ones. */
export function asObject(requirements: unknown): Record<string, unknown> | null {
  let value = requirements;
  if (typeof value === 'string' && value.trimStart().startsWith('{')) {
    try {
      value = JSON.parse(value);
    } catch {
      // Text that begins with a brace but is not JSON is prose for the agent, not an error.
      return null;
    }
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function sortKeys(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
