import { argon2Sync } from 'node:crypto';
import type { Computation } from '../base/side-thread.ts';

/** A password and the parameters of its hash. */
export interface KeyOrder {
  password: string;
  salt: Uint8Array;
  keyBytes: number;
  /** In KiB. */
  memory: number;
  passes: number;
  parallelism: number;
}

/** argon2id, in another thread: it is slow on purpose. */
export const keyDerivation: Computation<KeyOrder, Uint8Array> = {
  module: import.meta.url,
  name: 'keyDerivation',
  compute: ({ password, salt, keyBytes, ...parameters }) =>
    argon2Sync('argon2id', {
      ...parameters,
      // The same password may be typed in several Unicode forms (NIST SP 800-63B, 3.1.1.2).
      message: password.normalize('NFKC'),
      nonce: salt,
      tagLength: keyBytes,
    }),
};
