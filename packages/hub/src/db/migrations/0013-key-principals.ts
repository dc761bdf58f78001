import type { EngineName } from '../engine.ts';

/** Binds idempotency keys to the principal that sent them. Keys from before have none. */
export function keyPrincipals(engine: EngineName): string[] {
  const isSqlite = engine === 'sqlite';
  return [
    `CREATE TABLE principal_keys (
      workspace_id TEXT NOT NULL,
      operation TEXT NOT NULL,
      idempotency_key TEXT NOT NULL,
      principal_id TEXT NOT NULL,
      body_hash TEXT NOT NULL,
      answer TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, operation, idempotency_key, principal_id)
    )${isSqlite ? ' WITHOUT ROWID' : ''}`,
    `INSERT INTO principal_keys
      (workspace_id, operation, idempotency_key, principal_id, body_hash, answer, created_at)
      SELECT workspace_id, operation, idempotency_key, '', body_hash, answer, created_at
      FROM idempotency_keys`,
    'DROP TABLE idempotency_keys',
    'ALTER TABLE principal_keys RENAME TO idempotency_keys',
    'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
    // As in 0008: the table grows with every call that has a key.
    ...(isSqlite
      ? []
      : [
          `ALTER TABLE idempotency_keys SET (
            autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
            autovacuum_analyze_scale_factor = 0.02)`,
        ]),
  ];
}
