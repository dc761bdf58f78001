import { randomBytes, timingSafeEqual } from 'node:crypto';
import { HubError, invalidField } from '../base/errors.ts';
import type { SideThread } from '../base/side-thread.ts';
import { keyDerivation } from './derive-key.ts';
import { findPasswordFault } from './password-rules.ts';

/*
 * argon2id with OWASP's parameters (Password Storage Cheat Sheet): 19 MiB, two passes, one lane.
 * Each encoded hash contains its parameters, so that older hashes verify when they are raised.
 */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Hashes that run or wait: one or two seconds of work. Further callers are refused. */
const HASHES_MAX = 64;
const BUSY_RETRY_MS = 2_000;
/** The subject of all hashes among those that share the side thread. */
const PASSWORDS = 'passwords';

/**
 * A hash that fits no password, of people who sign in by links. Sign-ins of unknown people are
 * compared with it, at equal cost.
 */
export const noPasswordHash = encode(Buffer.alloc(SALT_BYTES), Buffer.alloc(HASH_BYTES));

export interface PasswordHasher {
  /** @throws HubError RATE_LIMITED when too many wait. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password fits. When `encoded` is null: false, after the same time.
   * @throws HubError RATE_LIMITED when too many wait.
   */
  verify(password: string, encoded: string | null): Promise<boolean>;
}

/**
 * Creates a hasher that works in the side thread, one hash at a time and after everything that the
 * event loop has to do. So sign-ins cannot block other work.
 */
export function createPasswordHasher(thread: SideThread): PasswordHasher {
  let open = 0;
  async function derive(password: string, salt: Buffer, parameters: Parameters): Promise<Buffer> {
    if (open >= HASHES_MAX) {
      throw new HubError('RATE_LIMITED', 'Too many people are signing in: try again shortly.', {
        retryAfterMs: BUSY_RETRY_MS,
      });
    }
    open += 1;
    try {
      const order = { password, salt, keyBytes: HASH_BYTES, ...parameters };
      return Buffer.from(await thread.run(PASSWORDS, keyDerivation, order));
    } finally {
      open -= 1;
    }
  }
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      const parameters = { memory: MEMORY_KIB, passes: PASSES, parallelism: LANES };
      return encode(salt, await derive(password, salt, parameters));
    },
    async verify(password, encoded) {
      const { salt, expected, parameters } = decode(encoded ?? noPasswordHash);
      const actual = await derive(password, salt, parameters);
      return timingSafeEqual(actual, expected) && encoded !== null;
    },
  };
}

/**
 * Checks and hashes a newly chosen password. Hashing is slow on purpose, so call this before a
 * transaction, never within one.
 *
 * @param options.path of the password's field in the request.
 * @throws HubError INVALID_REQUEST for a common password, RATE_LIMITED when too many wait.
 */
export async function hashNewPassword(
  { passwords }: { passwords: PasswordHasher },
  password: string,
  { person, path = '/password' }: { person: { email: string; name: string }; path?: string },
): Promise<string> {
  const fault = findPasswordFault(password, person);
  if (fault !== null) throw invalidField(path, fault);
  return passwords.hash(password);
}

interface Parameters {
  memory: number;
  passes: number;
  parallelism: number;
}

/** Encodes a hash in the PHC string format, which every argon2 library reads. */
function encode(salt: Buffer, key: Buffer): string {
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${text(salt)}$${text(key)}`;
}

const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

function decode(encoded: string): { salt: Buffer; expected: Buffer; parameters: Parameters } {
  const [, memory, passes, lanes, salt, key] = phcPattern.exec(encoded) ?? [];
  if (salt === undefined || key === undefined) throw new Error('a password hash is malformed');
  return {
    salt: Buffer.from(salt, 'base64'),
    expected: Buffer.from(key, 'base64'),
    parameters: { memory: Number(memory), passes: Number(passes), parallelism: Number(lanes) },
  };
}
