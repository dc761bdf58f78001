import { randomUUID } from 'node:crypto';
import {
  isDiskFull,
  readJsonFile,
  type StateDirectory,
  writeFileDurably,
} from '../state-directory.ts';
import { type Attempt, attemptOf } from './attempt.ts';

interface StoredClaims {
  claimKey: string;
  attempts: Attempt[];
}

/** The claims of an agent, for its next process if this one is killed. */
export interface ClaimRecord {
  /**
   * The key of every claim until one is granted. To a repetition the hub answers the same grant, so
   * a grant whose answer did not arrive, for any reason, is found by the next claim.
   */
  readonly claimKey: string;
  /** An earlier process has stored the key, and may have been granted a job under it. */
  readonly isResumed: boolean;
  /** The attempts that the earlier process has stored. Some have ended since. */
  readonly attemptsBefore: readonly Attempt[];
  /** Stores the attempts that the hub has not taken back, the one just granted among them. */
  grant(attempts: readonly Attempt[]): Promise<void>;
  /** Stores those that are left when the agent ends. */
  leave(attempts: readonly Attempt[]): Promise<void>;
}

/** Opens the record. Its first key is on disk before a claim can be sent. */
export async function openClaimRecord({ claimsFile }: StateDirectory): Promise<ClaimRecord> {
  // Only `store` writes this file.
  const stored = (await readJsonFile(claimsFile)) as StoredClaims | null;
  let claimKey = stored?.claimKey ?? randomUUID();

  async function store(attempts: readonly Attempt[]): Promise<void> {
    const claims: StoredClaims = { claimKey, attempts: attempts.map(attemptOf) };
    try {
      await writeFileDurably(claimsFile, `${JSON.stringify(claims)}\n`);
    } catch (error) {
      // The job is begun, and says that the disk is full. After a kill its lease ends by itself.
      if (!isDiskFull(error)) throw error;
    }
  }

  if (stored === null) await store([]);
  return {
    get claimKey() {
      return claimKey;
    },
    isResumed: stored !== null,
    attemptsBefore: stored?.attempts ?? [],
    async grant(attempts) {
      claimKey = randomUUID();
      await store(attempts);
    },
    leave: store,
  };
}
