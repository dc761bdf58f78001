/**
 * The prefixes of ids. An id is a prefix for its kind, then a UUIDv7 in lower-case hex without
 * dashes; clients treat it as opaque. UUIDv7 begins with the time, so ids sort by creation.
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
  request: 'req',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** Creates ids. The ids of one source are unique and strictly ascending. */
export type IdSource = (kind: IdKind) => string;

const SEQUENCE_BITS = 12;
const SEQUENCE_LIMIT = 1 << SEQUENCE_BITS;
/** Random bytes are generated in blocks, so that one call to the generator serves many ids. */
const RANDOM_BLOCK_BYTES = 4096;
const RANDOM_BYTES_PER_ID = 8;

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Creates an id source over a clock. Within one millisecond a 12-bit sequence keeps the order. When
 * it overflows, or the clock steps back, the time part runs ahead of the clock, so that no id
 * repeats (RFC 9562, section 6.2, method 1).
 */
export function createIdSource(nowMs: () => number): IdSource {
  const block = new Uint8Array(RANDOM_BLOCK_BYTES);
  let blockOffset = RANDOM_BLOCK_BYTES;
  let lastMs = 0;
  let sequence = 0;

  function randomPart(): string {
    if (blockOffset >= RANDOM_BLOCK_BYTES) {
      globalThis.crypto.getRandomValues(block);
      blockOffset = 0;
    }
    // The two highest bits of the first byte are the variant: 0b10.
    let text = hexOfByte[((block[blockOffset] as number) & 0x3f) | 0x80] as string;
    for (let i = 1; i < RANDOM_BYTES_PER_ID; i++)
      text += hexOfByte[block[blockOffset + i] as number];
    blockOffset += RANDOM_BYTES_PER_ID;
    return text;
  }

  return (kind) => {
    const now = nowMs();
    if (now > lastMs) {
      lastMs = now;
      sequence = 0;
    } else if (++sequence >= SEQUENCE_LIMIT) {
      lastMs += 1;
      sequence = 0;
    }
    const time = lastMs.toString(16).padStart(12, '0');
    const version = (0x7000 | sequence).toString(16);
    return `${idPrefixes[kind]}_${time}${version}${randomPart()}`;
  };
}
