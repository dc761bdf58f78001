import type { EngineName } from '../engine.ts';

/** Lets several accounts have one e-mail address: an address is no proof of a person. */
export function accounts(engine: EngineName): string[] {
  const index = 'CREATE INDEX people_by_email ON people (email, created_at, person_id)';
  if (engine === 'postgres') {
    return ['ALTER TABLE people DROP CONSTRAINT people_email_key', index];
  }
  return [
    `CREATE TABLE accounts (
      person_id TEXT NOT NULL PRIMARY KEY,
      email TEXT NOT NULL,
      name TEXT NOT NULL,
      password_hash TEXT NOT NULL,
      created_at BIGINT NOT NULL
    ) WITHOUT ROWID`,
    `INSERT INTO accounts (person_id, email, name, password_hash, created_at)
      SELECT person_id, email, name, password_hash, created_at FROM people`,
    'DROP TABLE people',
    'ALTER TABLE accounts RENAME TO people',
    index,
  ];
}
