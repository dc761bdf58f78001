import { endpoints } from '@signalbox/contract';
import { readField } from './answer-reader.ts';
import type { Connection, Target } from './connection.ts';
import type { LoadAgent } from './load-report.ts';
import { formatHead, formatPost, prompt } from './request-text.ts';

const { enqueue, claimNext, complete } = endpoints.jobs;

/** The workspace and repository of the jobs. */
export interface Queue {
  readonly workspaceId: string;
  readonly repoId: string;
}

export interface Claim {
  readonly jobId: string;
  readonly generation: string;
}

/** The preformatted requests of one agent for one hub. */
export interface AgentRequests {
  readonly enqueue: string;
  /** With a wait: the request waits for a job until the time is over. */
  claim(waitMs?: number): string;
  complete(claim: Claim): string;
}

export function prepareRequests(queue: Queue, agent: LoadAgent, target: Target): AgentRequests {
  const { workspaceId, repoId } = queue;
  const { agentId, token } = agent;
  const post = (path: string, body: object) =>
    formatPost(target, path, token, JSON.stringify(body));
  const head = formatHead(target, complete.path, token);
  const start = JSON.stringify({ workspaceId, agentId, outcome: 'done' }).slice(0, -1);
  const claimOnce = post(claimNext.path, { workspaceId, agentId });
  return {
    enqueue: post(enqueue.path, { workspaceId, repoId, kind: 'work', prompt }),
    claim: (waitMs) =>
      waitMs === undefined ? claimOnce : post(claimNext.path, { workspaceId, agentId, waitMs }),
    complete: ({ jobId, generation }) => {
      const body = `${start},"jobId":"${jobId}","claimGeneration":${generation}}`;
      return `${head}${body.length}\r\n\r\n${body}`;
    },
  };
}

/** The granted job of a claim's answer, or null. @throws Error if the answer is incomplete. */
export function readClaim(answer: string): Claim | null {
  const jobId = readField(answer, 'jobId');
  if (jobId === null) return null;
  const generation = readField(answer, 'claimGeneration');
  if (generation === null) throw new Error(`a claim without a generation: ${answer}`);
  return { jobId, generation };
}

/** Sends a request and returns the body of the answer. @throws Error if its status is not 200. */
export async function requireOk(
  connection: Connection,
  request: string,
  what: string,
): Promise<string> {
  const { status, body } = await connection.send(request);
  if (status !== 200) throw new Error(`${what}: ${status} ${body}`);
  return body;
}
