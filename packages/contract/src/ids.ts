/**
 * The prefixes of ids. An id is a prefix for its kind, then 100 bits in base32hex (RFC 4648,
 * section 7) in lower case: 45 of the time in milliseconds, 10 of a sequence, 45 random ones.
 * Clients treat it as opaque. The time comes first, so ids sort by creation. They are as short as
 * they can be, because a job stores 25 of them.
 */
export const idPrefixes = {
  workspace: 'ws',
  agent: 'agt',
  repository: 'repo',
  job: 'job',
  jobEvent: 'evt',
  run: 'run',
  uncertainty: 'unc',
  decisionRequest: 'dec',
  comment: 'com',
  resolution: 'res',
  cloudAiJob: 'aij',
  contextItem: 'ctx',
  contextPack: 'pack',
  upload: 'upl',
  integrationEvent: 'ing',
  trigger: 'trg',
  token: 'tok',
  integrationSecret: 'sec',
  device: 'dev',
  person: 'usr',
  session: 'ses',
  invitation: 'inv',
  mailAccount: 'mail',
  notificationChannel: 'chn',
  notification: 'ntf',
  decisionRule: 'rule',
  request: 'req',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** Creates ids. The ids of one source are unique and strictly ascending. */
export type IdSource = (kind: IdKind) => string;

const RADIX = 32;
const TIME_CHARS = 9;
const SEQUENCE_CHARS = 2;
const SEQUENCE_LIMIT = RADIX ** SEQUENCE_CHARS;
const RANDOM_CHARS = 9;
/** The hub makes sure that no two workspaces have the same id, and every key begins with one. */
const WORKSPACE_RANDOM_CHARS = 2;
/** Random bytes are generated in blocks, so that one call to the generator serves many ids. */
const RANDOM_BLOCK_BYTES = 4096;

const digits = Array.from({ length: RADIX }, (_, digit) => digit.toString(RADIX));

/** The ids of a kind that were created since a time are equal to this or sort after it. */
export function firstIdSince(kind: IdKind, timeMs: number): string {
  return `${idPrefixes[kind]}_${timePart(timeMs)}`;
}

/**
 * Creates an id source over a clock. Within one millisecond the sequence keeps the order. When it
 * overflows, or the clock steps back, the time part runs ahead of the clock, so that no id repeats.
 */
export function createIdSource(nowMs: () => number): IdSource {
  const block = new Uint8Array(RANDOM_BLOCK_BYTES);
  let blockOffset = RANDOM_BLOCK_BYTES;
  let lastMs = 0;
  let lastTime = timePart(lastMs);
  let sequence = 0;

  function randomPart(chars: number): string {
    if (blockOffset + chars > RANDOM_BLOCK_BYTES) {
      globalThis.crypto.getRandomValues(block);
      blockOffset = 0;
    }
    let text = '';
    for (let i = 0; i < chars; i++) text += digits[(block[blockOffset + i] as number) % RADIX];
    blockOffset += chars;
    return text;
  }

  function moveTo(timeMs: number): void {
    lastMs = timeMs;
    lastTime = timePart(timeMs);
    sequence = 0;
  }

  return (kind) => {
    const now = nowMs();
    if (now > lastMs) moveTo(now);
    else if (++sequence >= SEQUENCE_LIMIT) moveTo(lastMs + 1);
    const order = sequence.toString(RADIX).padStart(SEQUENCE_CHARS, '0');
    const random = randomPart(kind === 'workspace' ? WORKSPACE_RANDOM_CHARS : RANDOM_CHARS);
    return `${idPrefixes[kind]}_${lastTime}${order}${random}`;
  };
}

function timePart(timeMs: number): string {
  return Math.max(0, timeMs).toString(RADIX).padStart(TIME_CHARS, '0');
}
