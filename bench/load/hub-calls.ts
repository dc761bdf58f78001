import { endpoints } from '@signalbox/contract';
import { readField } from './answer-reader.ts';
import type { Connection, Target } from './connection.ts';

const { enqueue, claimNext, complete } = endpoints.jobs;

/** The workspace and repository of the jobs. */
export interface Queue {
  readonly workspaceId: string;
  readonly repoId: string;
}

/** An agent of a load, with its token. */
export interface LoadAgent {
  readonly agentId: string;
  readonly token: string;
}

export interface Claim {
  readonly jobId: string;
  readonly generation: string;
}

const sentence = 'Add a health check to the API and describe it in the documents. ';

/** The prompt of every job of a measure, for hub and peers alike: 400 bytes. */
export const prompt = sentence.repeat(7).slice(0, 400);

/** Formats a POST request with JSON. The body is ASCII, so characters equal bytes. */
export function formatPost(target: Target, path: string, token: string, body: string): string {
  return `${formatHead(target, path, token)}${body.length}\r\n\r\n${body}`;
}

/** The request head up to the digits of its content-length. */
export function formatHead(target: Target, path: string, token: string): string {
  return (
    `POST ${path} HTTP/1.1\r\n` +
    `host: ${target.host}:${target.port}\r\n` +
    `authorization: Bearer ${token}\r\n` +
    'content-type: application/json\r\n' +
    'content-length: '
  );
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
  return {
    enqueue: post(enqueue.path, { workspaceId, repoId, kind: 'work', prompt }),
    claim: (waitMs) => post(claimNext.path, { workspaceId, agentId, waitMs }),
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

/** The hub and the tokens of many agents. */
export interface AgentWorld extends Queue {
  readonly target: Target;
  readonly tokens: readonly string[];
  readonly agentCount: number;
}

/** The heartbeats of all agents, which register them when they are sent for the first time. */
export function formatBeats(world: AgentWorld): string[] {
  const { workspaceId, repoId, tokens, target, agentCount } = world;
  return Array.from({ length: agentCount }, (_, at) => {
    const capabilities = { canWrite: true, reposAllowed: [repoId], maxConcurrentJobs: 1 };
    const name = { displayName: `agent ${at}`, machineFingerprint: `agent ${at}` };
    const body = JSON.stringify({ workspaceId, ...name, capabilities });
    return formatPost(
      target,
      endpoints.agents.heartbeat.path,
      tokens[at % tokens.length] ?? '',
      body,
    );
  });
}

/** Registers all agents by their first heartbeats. */
export async function registerAll(
  { tokens }: AgentWorld,
  connections: readonly Connection[],
  beats: readonly string[],
): Promise<LoadAgent[]> {
  const agents: LoadAgent[] = [];
  let next = 0;
  const register = async (connection: Connection) => {
    while (next < beats.length) {
      const at = next++;
      const answer = await requireOk(connection, beats[at] ?? '', 'first heartbeat');
      const agentId = readField(answer, 'agentId');
      if (agentId === null) throw new Error(`a heartbeat without an agent: ${answer}`);
      agents[at] = { agentId, token: tokens[at % tokens.length] ?? '' };
    }
  };
  await Promise.all(connections.map(register));
  return agents;
}
