import {
  type DecisionSituation,
  idPrefixes,
  type TrustLabel,
  WAITING_JOBS_MAX,
} from '@signalbox/contract';
import { agentStatusAt } from '../agents/present.ts';
import { readAgent } from '../agents/store.ts';
import { assert } from '../base/errors.ts';
import type { Reader } from '../db/engine.ts';
import { readWholeJob, type WholeJob } from '../jobs/store-whole.ts';
import { titleOfRow } from '../jobs/title.ts';
import { countDependents } from '../queue/store-waiting.ts';
import { readRepository } from '../repositories/store.ts';
import { readRun } from '../runs/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { UncertaintyRow } from './store.ts';

/** Reads the facts beside a question: where it came from, and what waits for the answer. */
export async function readSituation(
  { database: { reader }, clock }: Pick<HubDeps, 'database' | 'clock'>,
  row: UncertaintyRow,
): Promise<DecisionSituation> {
  const { workspace_id: workspaceId, job_id: jobId } = row;
  const [run, job] = await Promise.all([
    row.run_id === null ? undefined : readRun(reader, workspaceId, row.run_id),
    jobId === null ? undefined : readWholeJob(reader, workspaceId, jobId),
  ]);
  const repoId = row.repo_id ?? run?.repo_id;
  assert(repoId !== undefined || row.session !== null, 'a question is about a repository');
  const [repository, agent, waitingJobs] = await Promise.all([
    repoId === undefined ? undefined : readRepository(reader, workspaceId, repoId),
    job?.agent_id == null ? undefined : readAgent(reader, workspaceId, job.agent_id),
    job === undefined ? 0 : countWaiting(reader, job),
  ]);
  const writtenBy = writerOf(row);
  return {
    writtenBy,
    writtenByName: writtenBy === 'tool' ? null : row.created_by_name,
    trust: trustOf[writtenBy],
    run:
      run === undefined
        ? null
        : { runId: run.run_id, runRef: run.run_ref, title: run.title, status: run.status },
    repository: repoId === undefined ? null : { repoId, label: repository?.label ?? '' },
    job: job === undefined ? null : presentAsker(job),
    agent:
      agent === undefined
        ? null
        : {
            agentId: agent.agent_id,
            displayName: agent.display_name,
            status: agentStatusAt(agent, clock.nowMs()),
          },
    waitingJobs,
  };
}

/** A tool repeats what it has read, from anywhere. */
const trustOf: Readonly<Record<DecisionSituation['writtenBy'], TrustLabel>> = {
  tool: 'external',
  person: 'member',
  service: 'member',
};

function writerOf({ created_by: id, session }: UncertaintyRow): DecisionSituation['writtenBy'] {
  if (session !== null || id.startsWith('job:')) return 'tool';
  return id.startsWith(`${idPrefixes.person}_`) ? 'person' : 'service';
}

function presentAsker(job: WholeJob): DecisionSituation['job'] {
  const title = titleOfRow({ title: job.title, beginning: job.prompt });
  return { jobId: job.job_id, title, status: job.status, attempt: job.attempt };
}

async function countWaiting(reader: Reader, job: WholeJob): Promise<number> {
  const isItself = job.status === 'blocked' ? 1 : 0;
  const dependents = await countDependents(
    reader,
    job.workspace_id,
    job.job_id,
    WAITING_JOBS_MAX - isItself,
  );
  return isItself + dependents;
}
