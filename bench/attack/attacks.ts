import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { readField } from '../load/answer-reader.ts';
import type { AttackLine } from './attack-line.ts';
import type { AttackerWorld } from './attacker-world.ts';

const { agents, contextItems, contextPacks, devices, health, integrations } = endpoints;
const { jobEvents, jobs, uploads } = endpoints;
const { account, auditLog, session } = consoleEndpoints;

/** One way to take more of a hub than one's share. */
export interface Attack {
  readonly id: string;
  readonly title: string;
  /** Connections that repeat the step at once, each as fast as it is answered. */
  readonly lines: number;
  step(line: AttackLine, world: AttackerWorld, number: number): Promise<unknown>;
}

/** Starts of secrets, with every separator of their own class. */
const secretStarts = ['-eyJ', '_eyJ', '.eyJ', 'password=', 'http://a:', '-----BEGIN ', 'a'];
/** The longest text of an item, and the longest text file whose text is read. */
const ITEM_CHARS = 199_000;
const DOCUMENT_CHARS = 500_000;
const UPLOAD_BYTES = 4_000_000;
const upload = { fileName: 'a.txt', contentType: 'text/plain' } as const;
const bigBytes = 'x'.repeat(UPLOAD_BYTES);
const eventText = 'y'.repeat(10_000);
const PROMPT = 'Do this.';

function hostileText(number: number, chars: number): string {
  const start = secretStarts[number % secretStarts.length] ?? '';
  return start.repeat(Math.floor(chars / start.length));
}

/** Announces an upload as the tool of a job and sends the bytes. */
async function send(line: AttackLine, world: AttackerWorld, bytes: string): Promise<void> {
  const { workspaceId, jobToken } = world;
  const body = { workspaceId, ...upload, sizeBytes: bytes.length };
  const answer = await line.post(uploads.create.path, { token: jobToken }, body);
  const url = answer === null ? null : readField(answer, 'uploadUrl');
  if (url !== null) await line.put(url, bytes);
}

/** The attacks of the security report that a valid token or no token can make on a hub's share. */
export const attacks: readonly Attack[] = [
  {
    id: 'flood',
    title: 'short writes on 512 connections',
    lines: 512,
    step: (line, { workspaceId, repoId, token }) => {
      const body = { workspaceId, repoId, kind: 'work', prompt: PROMPT };
      return line.post(jobs.enqueue.path, { token }, body);
    },
  },
  {
    id: 'leases',
    title: 'heartbeats on 512 connections',
    lines: 512,
    step: (line, { workspaceId, token }) => {
      const body = { workspaceId, displayName: 'a', machineFingerprint: 'attacker 2' };
      return line.post(agents.heartbeat.path, { token }, { ...body, capabilities: {} });
    },
  },
  {
    id: 'redaction',
    title: 'H2: items full of starts of secrets',
    lines: 16,
    step: (line, { workspaceId, token }, number) => {
      const text = hostileText(number, ITEM_CHARS);
      const body = { workspaceId, kind: 'note', source: 'attack', sourceRef: `${number}`, text };
      return line.post(contextItems.upsert.path, { token }, body);
    },
  },
  {
    id: 'documents',
    title: 'H2: text files full of starts of secrets, sent by a tool',
    lines: 4,
    step: (line, world, number) => send(line, world, hostileText(number, DOCUMENT_CHARS)),
  },
  {
    id: 'lanes',
    title: 'H3: jobs with requirements that differ, and claims',
    lines: 32,
    step: (line, { workspaceId, repoId, agentId, token }, number) => {
      if (number % 4 === 0) {
        return line.post(jobs.claimNext.path, { token }, { workspaceId, agentId });
      }
      const labels = { [`ticket-${number}`]: 'v'.repeat(190) };
      const body = { workspaceId, repoId, kind: 'work', prompt: PROMPT, requirements: { labels } };
      return line.post(jobs.enqueue.path, { token }, body);
    },
  },
  {
    id: 'lists-unread',
    title: 'H4: lists of long prompts whose answers are not read',
    lines: 64,
    step: (line, { workspaceId, token }) =>
      line.postUnread(jobs.list.path, { token }, { workspaceId, limit: 200 }),
  },
  {
    id: 'lists',
    title: 'H4: lists of long prompts',
    lines: 64,
    step: (line, { workspaceId, token }) =>
      line.post(jobs.list.path, { token }, { workspaceId, limit: 200 }),
  },
  {
    id: 'strangers',
    title: 'H5: wrong tokens, wrong passwords, device logins',
    lines: 128,
    step: (line, _world, number) => {
      const wrong = { token: `sbx_s_${number}` };
      const guess = { email: `nobody-${number}@example.test`, password: 'a wrong password' };
      if (number % 4 === 0) return line.post(session.signIn.path, null, guess);
      if (number % 4 === 1) {
        return line.post(devices.start.path, null, { workspaceSlug: 'attacker' });
      }
      return line.post(jobs.list.path, wrong, {});
    },
  },
  {
    id: 'uploads',
    title: 'H6: files of 4 MB, sent by a tool',
    lines: 8,
    step: (line, world) => send(line, world, bigBytes),
  },
  {
    id: 'open-puts',
    title: 'H6: uploads that never end',
    lines: 64,
    step: async (line, { workspaceId, jobToken }) => {
      const body = { workspaceId, ...upload, sizeBytes: UPLOAD_BYTES };
      const answer = await line.post(uploads.create.path, { token: jobToken }, body);
      const url = answer === null ? null : readField(answer, 'uploadUrl');
      if (url === null) return;
      const { pathname, search } = new URL(url);
      const head = line.head('PUT', pathname + search, null, UPLOAD_BYTES);
      await line.sendPart({ head: head + bigBytes.slice(0, 100_000), closes: false });
    },
  },
  {
    id: 'triggers',
    title: 'M3: events against 100 triggers with 20 expensive patterns each',
    lines: 16,
    step: (line, { workspaceId, integrationSecret }, number) => {
      const event = { workspaceId, idempotencyKey: `${process.pid}-${number}`, source: 'attack' };
      const body = { ...event, type: 'issue', content: eventText };
      return line.post(integrations.ingest.path, { secret: integrationSecret }, body);
    },
  },
  {
    id: 'timeline',
    title: 'M4: a tool that prints without end',
    lines: 32,
    step: (line, { workspaceId, agentId, jobId, jobToken }, number) => {
      const entries = Array.from({ length: 20 }, (_, at) => ({
        ...{ logSeq: number * 20 + at + 1, message: 'z'.repeat(10_000) },
      }));
      const body = { workspaceId, jobId, agentId, entries };
      return line.post(jobEvents.append.path, { token: jobToken }, body);
    },
  },
  {
    id: 'audit',
    title: 'M10: the whole audit log verified, again and again',
    lines: 16,
    step: (line, { workspaceId, cookie }) =>
      line.post(auditLog.verify.path, { cookie }, { workspaceId }),
  },
  {
    id: 'renames',
    title: 'L9: changes that exclude every other write',
    lines: 64,
    step: (line, { cookie }, number) =>
      line.post(account.update.path, { cookie }, { name: `Mallory ${number}` }),
  },
  {
    id: 'openapi',
    title: 'L6: the description of the API, without a token',
    lines: 64,
    step: (line) => line.get(health.openapi.path),
  },
  {
    id: 'broken-bodies',
    title: 'L7: requests that are broken off, and bodies of a megabyte',
    lines: 64,
    step: (line, { workspaceId, token }, number) => {
      const { path } = jobs.enqueue;
      if (number % 2 === 0) return line.post(path, { token }, `"${workspaceId.repeat(30_000)}"`);
      const head = line.head('POST', path, { token }, 100_000);
      return line.sendPart({ head: `${head}{"workspaceId":`, closes: true });
    },
  },
  {
    id: 'slow-bodies',
    title: 'requests whose bodies never arrive',
    lines: 512,
    step: (line, { token }) => {
      const head = line.head('POST', jobs.enqueue.path, { token }, 200_000);
      return line.sendPart({ head: `${head}{`, closes: false });
    },
  },
  {
    id: 'children',
    title: 'L15: completions with 50 children',
    lines: 16,
    step: async (line, { workspaceId, repoId, agentId, token }) => {
      const labels = { only: 'children' };
      const draft = { kind: 'work', prompt: PROMPT };
      await line.post(jobs.enqueue.path, { token }, { workspaceId, repoId, ...draft });
      const claim = await line.post(jobs.claimNext.path, { token }, { workspaceId, agentId });
      const jobId = claim === null ? null : readField(claim, 'jobId');
      if (jobId === null) return;
      const child = { ...draft, requirements: { labels } };
      const children = Array.from({ length: 50 }, () => child);
      const body = { workspaceId, agentId, jobId, outcome: 'done', children };
      await line.post(jobs.complete.path, { token }, body);
    },
  },
  {
    id: 'packs',
    title: 'searches and context packs',
    lines: 64,
    step: (line, { workspaceId, runId, token }, number) => {
      const search = { workspaceId, query: 'eyJ password a b c d e f g '.repeat(30) };
      return number % 2 === 0
        ? line.post(contextItems.search.path, { token }, search)
        : line.post(contextPacks.buildRunV1.path, { token }, { workspaceId, runId });
    },
  },
  {
    id: 'claims',
    title: '1,000 claims that wait',
    lines: 1_000,
    step: (line, { workspaceId, agentId, token }) => {
      const body = { workspaceId, agentId, waitMs: 60_000 };
      return line.post(jobs.claimNext.path, { token }, body);
    },
  },
];
