import { hash } from 'node:crypto';
import type { PasswordHasher } from '../../src/people/passwords.ts';

const encode = (password: string) => `quick:${hash('sha256', password)}`;

/** A hasher without cost. Argon2 has tests of its own (`people/passwords.test.ts`). */
export const quickHasher: PasswordHasher = {
  hash: async (password) => encode(password),
  verify: async (password, encoded) => encoded === encode(password),
};
