import {
  type ChildJob,
  isJobBase,
  type JobKind,
  type RequestInput,
  type RequiredCapabilities,
} from '@signalbox/contract';
import { invalidField } from '../base/errors.ts';
import type { Reader } from '../db/engine.ts';
import { asObject, mayWrite, needsOf } from '../queue/matching.ts';
import type { JobRecord } from './require-job.ts';
import { type JobRow, readJob } from './store.ts';

/*
 * The limits of a job hold for its children. What an agent sends as children is mostly what its
 * tool asked for, and a tool must not reach further by a child than by its own job: not to another
 * repository, branch or run, not to an agent that could not have claimed it, and not earlier.
 */

type Child = RequestInput<typeof ChildJob>;
type Requirements = Record<string, unknown>;
/** The parts of a job that say what it requires. */
type Requiring = Pick<JobRow, 'kind' | 'requirements'>;

/** A job whose completion enqueues children, and the run that it belongs to now. */
export interface ChildrenParent extends JobRecord {
  runId: string | null;
}

/**
 * Narrows a child to the limits of its parent.
 *
 * @param path of the child in the request.
 * @throws HubError INVALID_REQUEST for what cannot be narrowed: another repository, branch or run,
 *   and dependencies or a key outside of the run.
 */
export async function limitChild(
  reader: Reader,
  parent: ChildrenParent,
  child: Child,
  path: string,
): Promise<Child> {
  await requireOwnPlace(reader, parent, child, path);
  const { entry, row } = parent;
  const { requirements: _requirements, budget: _budget, ...others } = child;
  const requirements = inheritRequirements(row, child, `${path}/requirements`);
  const budget = inheritBudget(row, child.budget);
  return {
    ...others,
    ...(requirements !== undefined && { requirements }),
    ...(budget !== undefined && { budget }),
    ...inheritBase(row, child),
    priority: Math.min(child.priority, entry.priority),
    maxAttempts: Math.min(child.maxAttempts, entry.attempts_max),
  };
}

/** Where the job of an answer may run: where the job that asked may. A person decided its work. */
export function requirementsOfApplication(asker: Requiring): Requirements | undefined {
  const inherited = readInherited(asker);
  return Object.keys(inherited).length === 0 ? undefined : inherited;
}

async function requireOwnPlace(
  reader: Reader,
  { entry, row, runId }: ChildrenParent,
  child: Child,
  path: string,
): Promise<void> {
  if (child.repoId !== undefined && child.repoId !== row.repo_id) {
    throw invalidField(`${path}/repoId`, 'must be the repository of the job');
  }
  if (child.runId !== undefined && child.runId !== runId) {
    throw invalidField(`${path}/runId`, 'must be the run of the job');
  }
  const { concurrencyKey: key } = child;
  const isOwnKey =
    key === undefined ||
    key === entry.concurrency_key ||
    (runId !== null && key.startsWith(`${runId}:`));
  if (!isOwnKey) {
    const rule = 'must be that of the job, or begin with the id of its run and a colon';
    throw invalidField(`${path}/concurrencyKey`, rule);
  }
  const known = new Set([row.job_id, ...(JSON.parse(row.depends_on) as string[])]);
  const mayName = async (jobId: string) => {
    if (known.has(jobId)) return true;
    const job = await readJob(reader, row.workspace_id, jobId);
    return job !== undefined && runId !== null && job.run_id === runId;
  };
  for (const jobId of child.dependsOn) {
    if (await mayName(jobId)) continue;
    const rule = 'must name jobs of the run, the job itself, or those that it waited for';
    throw invalidField(`${path}/dependsOn`, rule);
  }
  // Its work lands there, so a tool does not choose another branch.
  const { base = row.base_branch } = child;
  if (base === row.base_branch || (base !== null && isJobBase(base) && (await mayName(base))))
    return;
  throw invalidField(
    `${path}/base`,
    'must be the branch of the job, or a job that it may depend on',
  );
}

/** A child that builds on no job is for the branch of its parent. */
function inheritBase({ base_branch }: JobRow, { base, dependsOn }: Child): { base?: string } {
  if (base !== undefined) return { base };
  return base_branch === null || dependsOn.length > 0 ? {} : { base: base_branch };
}

/**
 * The requirements of a child: all those of its parent, and what it asks for beyond. An agent that
 * may claim the child may claim the parent, and a job that may only read has no child that writes.
 */
function inheritRequirements(
  parent: Requiring,
  child: Child,
  path: string,
): Child['requirements'] | undefined {
  const told: Requirements & RequiredCapabilities = asObject(child.requirements) ?? {};
  // Checks the types of what the child asks for.
  needsOf(child.kind, child.requirements);
  const own = readInherited(parent);
  const inherited = { ...own, ...rightsOf(parent, child) };
  if (asObject(child.requirements) === null) {
    if (Object.keys(inherited).length === 0) return child.requirements;
    if (child.requirements === undefined) return inherited;
    throw invalidField(path, 'must be an object, because the job has requirements of its own');
  }
  const { executionMode, tool, model, models, isolation, canWrite, writeRequired } = told;
  // Agents offer only what their person has configured, so a tool that is chosen here is one of it.
  const asked = { executionMode, tool, isolation, canWrite, writeRequired };
  const hasModels = 'model' in own || 'models' in own;
  const labels = { ...told.labels, ...(own.labels as RequiredCapabilities['labels']) };
  const narrowed = {
    ...asked,
    ...(hasModels ? {} : { model, models }),
    ...inherited,
    ...(told.networkRequired === true && { networkRequired: true }),
    ...(Object.keys(labels).length > 0 && { labels }),
  };
  return Object.fromEntries(Object.entries(narrowed).filter(([, value]) => value !== undefined));
}

/** The requirements of a job that its children have as well; without the right to write. */
function readInherited({ requirements }: Requiring): Requirements {
  const { canWrite: _may, writeRequired: _must, ...own } = readRequirements(requirements);
  return own;
}

function readRequirements(requirements: string | null): Requirements {
  return requirements === null ? {} : (asObject(JSON.parse(requirements)) ?? {});
}

/** The words about writing by which a child has no more rights than its parent. */
function rightsOf(parent: Requiring, child: Child): RequiredCapabilities {
  // The row has a kind that passed the contract's schema when it was written.
  const kind = parent.kind as JobKind;
  const requirements = readRequirements(parent.requirements);
  const wantsToWrite = mayWrite(child.kind, child.requirements);
  if (wantsToWrite && mayWrite(kind, requirements)) return {};
  if (needsOf(kind, requirements).write) return { canWrite: false, writeRequired: true };
  return wantsToWrite ? { canWrite: false } : {};
}

/** The limits of the parent, and those of the child where they are lower or others. */
function inheritBudget(
  { budget }: Pick<JobRow, 'budget'>,
  told: Child['budget'],
): Child['budget'] | undefined {
  if (budget === null) return told;
  const limits: Record<string, unknown> = { ...told };
  for (const [name, limit] of Object.entries(JSON.parse(budget) as Requirements)) {
    const asked = limits[name];
    const areNumbers = typeof asked === 'number' && typeof limit === 'number';
    limits[name] = areNumbers ? Math.min(asked, limit) : limit;
  }
  return limits;
}
