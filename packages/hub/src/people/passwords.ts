import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { HubError } from '../errors.ts';

/*
 * argon2id with OWASP's parameters (Password Storage Cheat Sheet): 19 MiB, two passes, one lane.
 * The encoded form carries them, so that they can rise while older hashes still verify.
 */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Hashes at once. The thread pool has four threads, which files and name look-ups need too. */
const RUNNING_MAX = 2;
/** Hashes that wait: about a second of work. More callers are turned away. */
const WAITING_MAX = 64;
const BUSY_RETRY_MS = 2_000;

/** A hash of nothing: what unknown people's passwords are held against, at the same cost. */
const nobodysHash = encode(Buffer.alloc(SALT_BYTES), Buffer.alloc(HASH_BYTES));

export interface PasswordHasher {
  /** @throws HubError RATE_LIMITED when too many wait. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password fits; takes equally long, and is false, when `encoded` is null.
   * @throws HubError RATE_LIMITED when too many wait.
   */
  verify(password: string, encoded: string | null): Promise<boolean>;
}

/** Hashes in a bounded pool, so that sign-ins cannot keep the hub from its other work. */
export function createPasswordHasher(): PasswordHasher {
  const pool = new Pool();
  return {
    hash(password) {
      const salt = randomBytes(SALT_BYTES);
      const parameters = { memory: MEMORY_KIB, passes: PASSES, parallelism: LANES };
      return pool.run(async () => encode(salt, await derive(password, salt, parameters)));
    },
    verify(password, encoded) {
      const { salt, expected, parameters } = decode(encoded ?? nobodysHash);
      return pool.run(async () => {
        const actual = await derive(password, salt, parameters);
        return timingSafeEqual(actual, expected) && encoded !== null;
      });
    },
  };
}

interface Parameters {
  memory: number;
  passes: number;
  parallelism: number;
}

function derive(password: string, salt: Buffer, parameters: Parameters): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    argon2(
      'argon2id',
      // One password may be typed in several Unicode forms (NIST SP 800-63B, 3.1.1.2).
      { ...parameters, message: password.normalize('NFKC'), nonce: salt, tagLength: HASH_BYTES },
      (error, key) => (error === null ? resolve(key) : reject(error)),
    );
  });
}

/** The PHC string form, as every argon2 library reads it. */
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

/** Runs a few at once and lets a few more wait. */
class Pool {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= RUNNING_MAX) {
      if (this.#waiting.length >= WAITING_MAX) {
        throw new HubError('RATE_LIMITED', 'Too many people are signing in: try again shortly.', {
          retryAfterMs: BUSY_RETRY_MS,
        });
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      // The place is handed on as it is, or given up.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
