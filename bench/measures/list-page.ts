import { endpoints } from '@signalbox/contract';
import { createClient } from '@signalbox/sdk';
import { formatCount } from '../format.ts';
import { Connection } from '../load/connection.ts';
import { requireOk } from '../load/hub-calls.ts';
import { formatPost } from '../load/request-text.ts';
import type { Bench, Section } from '../section.ts';
import { baseUrlOf, type HubWorld, startHubWorld, withHubs } from '../subjects/hub.ts';
import { withStore } from '../subjects/store.ts';
import { writeWords } from '../words.ts';

const PAGE_ROWS = 50;
/** Of a prompt: about 90 KB in one line, so that its title has the full length. */
const PROMPT_WORDS = 15_000;
const BYTES_MAX = 20_000;

/** P8: the bytes of a page of the console's list of jobs, when all prompts are very long. */
export async function measureListPage(bench: Bench): Promise<Section> {
  const { plainBytes, wireBytes, promptBytes } = await withStore(bench, 'sqlite', async (store) =>
    withHubs(await startHubWorld(store), measurePage),
  );
  return {
    title: 'Size of a list',
    table: {
      head: ['page', 'bytes on the wire', 'bytes of the JSON'],
      rows: [
        [`${PAGE_ROWS} jobs, as the console asks`, formatCount(wireBytes), formatCount(plainBytes)],
      ],
    },
    notes: [
      `The first prompt has ${formatCount(promptBytes)} bytes; the others are as long. On the wire ` +
        'the answer is compressed, because browsers accept that.',
    ],
    verdicts: [
      {
        measure: 'P8',
        what: `page of ${PAGE_ROWS} jobs with long prompts, on the wire`,
        target: '≤ 20 KB',
        measured: `${(wireBytes / 1_000).toFixed(1)} KB`,
        met: wireBytes <= BYTES_MAX,
      },
    ],
    bars: [],
    raw: { plainBytes, wireBytes },
  };
}

async function measurePage({ workspaceId, repoId, tokens, targets }: HubWorld) {
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
  const compressed = plain.replace('\r\n', '\r\naccept-encoding: br\r\n');
  const connection = await Connection.open(target);
  const plainBytes = (await requireOk(connection, plain, 'list')).length;
  const wireBytes = (await requireOk(connection, compressed, 'list')).length;
  connection.close();
  return { plainBytes, wireBytes, promptBytes: writeWords(0, PROMPT_WORDS).length };
}
