import { endpoints } from '@signalbox/contract';
import { createClient } from '@signalbox/sdk';
import type { Bench } from '../bench.ts';
import { type Contestant, runContest } from '../contest.ts';
import { type Figure, formatCount, p50Of, ratiosOf, valuesOf } from '../figure.ts';
import { Connection } from '../load/connection.ts';
import { formatPost, type LoadAgent, requireOk } from '../load/hub-calls.ts';
import type { LoadSpec } from '../load/main.ts';
import { runLoad } from '../load-process.ts';
import type { EngineName } from '../options.ts';
import { describeError } from '../project.ts';
import { baseUrlOf, type HubWorld, registerAgents, withHubs } from '../subjects/hub.ts';
import { type SeedCounts, withSeededHub } from '../subjects/seed.ts';
import { engines, titleOf } from '../subjects/store.ts';
import { writeWords } from '../words.ts';

/** Connections of the concurrent load; the other load has a single connection. */
const CONNECTIONS = 64;
const SMALL: SeedCounts = { pending: 1_000, finished: 1, events: 0 };

/** P5 and P8: the times of a claim and a page with very much data, compared to little. */
export async function measureGrowth(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const engine of engines) {
    const failed = (error: unknown): Figure[] => [
      { measure: 'P5', what: titleOf(engine), unit: '×', values: describeError(error) },
    ];
    figures.push(...(await measureEngine(bench, engine).catch(failed)));
  }
  return figures;
}

function measureEngine(bench: Bench, engine: EngineName): Promise<Figure[]> {
  const { quick } = bench.options;
  const large: SeedCounts = quick
    ? { pending: 20_000, finished: 40_000, events: 20_000 }
    : { pending: 1_000_000, finished: 5_000_000, events: 1_000_000 };
  bench.say(`  ${titleOf(engine)}: seeding`);
  return withSeededHub(bench, engine, SMALL, (smallWorld) =>
    withSeededHub(bench, engine, large, async (largeWorld) => {
      const worlds = {
        small: { world: smallWorld, agents: await registerAgents(smallWorld, CONNECTIONS) },
        large: { world: largeWorld, agents: await registerAgents(largeWorld, CONNECTIONS) },
      };
      const { jobs, jobEvents } = endpoints;
      const tail = { jobId: largeWorld.loggedJobId, limit: 100 };
      const standings = await runContest(bench, {
        smallAlone: claims(bench, worlds.small, 1),
        largeAlone: claims(bench, worlds.large, 1),
        small: claims(bench, worlds.small, CONNECTIONS),
        large: claims(bench, worlds.large, CONNECTIONS),
        tail: reads(bench, largeWorld, jobEvents.listForJob.path, tail),
        page: reads(bench, largeWorld, jobs.list.path, { limit: 50 }),
      });
      const { smallAlone, largeAlone } = standings;
      const on = titleOf(engine);
      const claim = p50Of('claim');
      const ratio = { measure: 'P5', unit: '×', atMost: 1.2 } as const;
      const read = { measure: 'P8', unit: 'ms', atMost: engine === 'sqlite' ? 1 : 2 } as const;
      const jobCount = formatCount(large.pending + large.finished);
      const request = p50Of('request');
      const alone = ratiosOf([largeAlone, smallAlone], claim);
      const together = ratiosOf([standings.large, standings.small], claim);
      return [
        { ...ratio, what: `claim, large ÷ small, alone, ${on}`, values: alone },
        { ...ratio, what: `claim, large ÷ small, 64 connections, ${on}`, values: together },
        {
          ...read,
          what: `tail of ${formatCount(large.events)} events, ${on}`,
          values: valuesOf(standings.tail, request),
        },
        {
          ...read,
          what: `page of ${jobCount} jobs, ${on}`,
          values: valuesOf(standings.page, request),
        },
      ];
    }),
  );
}

interface Place {
  readonly world: HubWorld;
  readonly agents: readonly LoadAgent[];
}

function claims(bench: Bench, { world, agents }: Place, connections: number): Contestant {
  const { targets, workspaceId, repoId } = world;
  const queue = { targets, workspaceId, repoId, hasBacklog: true };
  const own = agents.slice(0, connections);
  return load(bench, world, `claims, ${connections} connections`, (span) => {
    return { kind: 'cycles', ...queue, agents: own, ...span };
  });
}

function reads(bench: Bench, world: HubWorld, path: string, body: object): Contestant {
  const { targets, tokens, workspaceId } = world;
  const post = { targets, path, token: tokens[0] ?? '', connections: 1 };
  const bodies = [JSON.stringify({ workspaceId, ...body })];
  return load(bench, world, path, (span) => ({ kind: 'post', ...post, bodies, ...span }));
}

function load(
  { options }: Bench,
  { meters }: HubWorld,
  title: string,
  specOf: (span: { warmUpMs: number; measureMs: number }) => LoadSpec,
): Contestant {
  const span = options.quick
    ? { warmUpMs: 300, measureMs: 700 }
    : { warmUpMs: 2_000, measureMs: 5_000 };
  return { title, run: () => runLoad(specOf(span), meters) };
}

const PAGE_ROWS = 50;
/** Of a prompt: about 90 KB in one line, so that its title has the full length. */
const PROMPT_WORDS = 15_000;

/** P8: the bytes of a page of the console's list of jobs, when all prompts are very long. */
export function measureListSize(bench: Bench): Promise<Figure[]> {
  return withHubs(bench, 'sqlite', {}, async ({ workspaceId, repoId, tokens, targets }) => {
    const [token = ''] = tokens;
    const [target] = targets;
    if (target === undefined) throw new Error('a world must have a hub');
    const client = createClient({ baseUrl: baseUrlOf(target), token });
    for (let number = 0; number < PAGE_ROWS; number++) {
      const prompt = writeWords(number, PROMPT_WORDS);
      await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt });
    }
    const page = { view: 'summary', fields: ['waitingReason'], limit: PAGE_ROWS };
    const body = JSON.stringify({ workspaceId, ...page });
    const plain = formatPost(target, endpoints.jobs.list.path, token, body);
    const connection = await Connection.open(target);
    // Browsers accept compressed answers.
    const compressed = plain.replace('\r\n', '\r\naccept-encoding: br\r\n');
    const bytes = (await requireOk(connection, compressed, 'list')).length;
    connection.close();
    const what = `page of ${PAGE_ROWS} jobs with long prompts, on the wire`;
    return [{ measure: 'P8', what, unit: 'KB', atMost: 20, values: [bytes / 1_000] }];
  });
}
