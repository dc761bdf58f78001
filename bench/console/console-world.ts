import { LEASE_MS_MAX } from '@signalbox/contract';
import { inviteMemberByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import { callConsole, type SignedIn } from '../../e2e/person.ts';
import { startSeededWorld } from '../seed/seeded-world.ts';
import { adminConfigOf, baseUrlOf, type HubStore, type HubWorld } from '../subjects/hub.ts';

/** How much the workspace of the console has. */
export interface ConsoleSize {
  readonly jobs: number;
  readonly logLines: number;
}

/** A hub with a large workspace, and a person who is signed in. */
export interface ConsoleWorld extends HubWorld {
  readonly size: ConsoleSize;
  readonly person: SignedIn;
  readonly client: Client;
  readonly logJobId: string;
}

const RUNNING = 20;
/** Above the priority of all other jobs, so that it is claimed next. */
const URGENT = 100;
/** Lines of a piece of output, of about 30 KB. */
const PIECE_LINES = 500;
const PIECES_PER_CALL = 6;

/** Starts a hub whose workspace has as many jobs as asked for, and one long log. */
export async function startConsoleWorld(
  store: HubStore,
  size: ConsoleSize,
  say: (line: string) => void,
): Promise<ConsoleWorld> {
  const pending = Math.round(size.jobs * 0.4);
  const counts = { pending, finished: size.jobs - pending, events: 0 };
  const world = await startSeededWorld(store, counts, RUNNING + 1, say);
  try {
    const [logger, ...others] = world.agents;
    const { workspaceId } = world;
    const baseUrl = baseUrlOf(world.targets[0]);
    const client = createClient({ baseUrl, token: logger?.token ?? '' });
    for (const { agentId, token } of others) {
      const own = createClient({ baseUrl, token });
      await own.jobs.claimNext({ workspaceId, agentId, leaseMs: LEASE_MS_MAX });
    }
    say(`    a log of ${size.logLines.toLocaleString('en')} lines`);
    const logJobId = await writeLog(client, world, logger?.agentId ?? '', size.logLines);
    return { ...world, size, client, logJobId, person: await signIn(store, baseUrl, workspaceId) };
  } catch (error) {
    await world.stop();
    throw error;
  }
}

async function writeLog(
  client: Client,
  { workspaceId, repoId }: HubWorld,
  agentId: string,
  lines: number,
): Promise<string> {
  const asked = { workspaceId, repoId, kind: 'work', prompt: 'Print many lines.' } as const;
  const { jobId } = await client.jobs.enqueue({ ...asked, priority: URGENT });
  const claimed = await client.jobs.claimNext({ workspaceId, agentId, leaseMs: LEASE_MS_MAX });
  if (claimed.job?.jobId !== jobId) throw new Error('the job of the log must be claimed first');
  let logSeq = 0;
  for (let from = 0; from < lines; from += PIECE_LINES * PIECES_PER_CALL) {
    const pieces = Array.from({ length: PIECES_PER_CALL }, (_, at) => from + at * PIECE_LINES);
    const entries = pieces
      .filter((at) => at < lines)
      .map((at) => ({ logSeq: ++logSeq, message: pieceOf(at), stream: 'stdout' as const }));
    await client.jobEvents.append({ workspaceId, jobId, agentId, entries });
  }
  await client.jobs.complete({ workspaceId, jobId, agentId, outcome: 'done', message: 'Printed.' });
  return jobId;
}

/** Every 99,999th line has a word of its own to search for. */
function pieceOf(from: number): string {
  return Array.from({ length: PIECE_LINES }, (_, at) => {
    const line = from + at + 1;
    const mark = line % 99_999 === 0 ? ' ERROR' : '';
    return `${line} of the output, which is about sixty characters${mark}\n`;
  }).join('');
}

/** Makes an owner of the workspace, by an invitation of the operator. */
async function signIn(store: HubStore, baseUrl: string, workspaceId: string): Promise<SignedIn> {
  const invited = { workspaceSlug: 'bench', email: 'ada@acme.example', role: 'owner' } as const;
  const { invitationUrl } = await inviteMemberByAdmin(adminConfigOf(store), invited);
  const linkToken = invitationUrl.split('#token=')[1];
  const account = { linkToken, name: 'Ada Lovelace', password: 'copper lantern orbit mosaic' };
  const { cookie } = await callConsole(baseUrl, 'invitations/accept', account);
  return { baseUrl, cookie, workspaceId };
}
