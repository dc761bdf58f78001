import { execFileSync } from 'node:child_process';
import type { Job } from '@signalbox/contract';
import type { Processes } from './processes.ts';

export interface Result {
  commitSha: string;
  note: string;
}

/** Reads the job from the hub and compares what it says with what is in the clone. */
export async function checkEvidence(
  processes: Processes,
  clone: string,
  jobId: string,
): Promise<Result> {
  const { output } = await processes.startCommand(['job', jobId, '--json']).ended;
  const { job } = JSON.parse(output) as { job: Job };
  const { commitSha, changedFiles = [] } = job.evidence ?? {};
  if (job.status !== 'done') throw new Error(`The job is ${job.status}: ${job.message ?? ''}`);
  if (commitSha === undefined) {
    throw new Error('The job is done, but nothing was committed: the tool has changed nothing.');
  }
  const args = ['-C', clone, 'diff', '--name-only', 'HEAD', commitSha];
  const inGit = execFileSync('git', args, { encoding: 'utf8' }).trim().split('\n').toSorted();
  if (inGit.join('\n') !== [...changedFiles].toSorted().join('\n')) {
    throw new Error(
      `The evidence names ${changedFiles.join(', ')}; git names ${inGit.join(', ')}.`,
    );
  }
  const files = inGit.length === 1 ? '1 changed file' : `${inGit.length} changed files`;
  return { commitSha, note: `commit ${commitSha.slice(0, 10)}, ${files}: they agree` };
}
