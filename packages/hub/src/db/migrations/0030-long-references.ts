import type { EngineName } from '../engine.ts';

/**
 * On PostgreSQL, an index entry holds about 2,700 bytes, and references may be longer: these
 * indexes hold hashes of them. `matchText` (`db/text-hash.ts`) writes the conditions that use them.
 */
export function longReferences(engine: EngineName): string[] {
  if (engine === 'sqlite') return [];
  return [
    // PL/pgSQL, because convert_to counts as dependent on settings, although it is not for UTF8.
    `CREATE FUNCTION text_hash(value text) RETURNS bytea
      LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
      AS 'BEGIN RETURN sha256(convert_to(value, ''UTF8'')); END'`,
    'DROP INDEX context_items_by_source',
    `CREATE UNIQUE INDEX context_items_by_source
      ON context_items (workspace_id, text_hash(source), text_hash(source_ref))
      WHERE source_ref IS NOT NULL`,
    'DROP INDEX context_items_by_thread',
    `CREATE INDEX context_items_by_thread
      ON context_items (workspace_id, text_hash(thread_ref), occurred_at, item_id)
      WHERE thread_ref IS NOT NULL`,
    'DROP INDEX integration_events_by_ref',
    `CREATE INDEX integration_events_by_ref
      ON integration_events (workspace_id, text_hash(source_ref)) WHERE source_ref IS NOT NULL`,
  ];
}
