import type { EngineName } from '../engine.ts';

/** Bytes and pieces of output between two marks; see `jobs/log-writer.ts`. */
const MARK_BYTES = 65_536;
const MARK_PIECES = 500;

/**
 * The size of each attempt's log, and marks in it: at which line and byte an event begins. With
 * them a page, a search or a download reads no more of the timeline than it returns.
 */
export function jobLogs(engine: EngineName): string[] {
  const keyed = engine === 'sqlite' ? ' WITHOUT ROWID' : '';
  const lineFeed = engine === 'sqlite' ? 'char(10)' : 'chr(10)';
  const pieces = `pieces AS (
    SELECT workspace_id, job_id, attempt, seq, at, octet_length(message) AS size_bytes,
      length(message) - length(replace(message, ${lineFeed}, '')) AS line_feeds
    FROM job_events
    WHERE kind = 'log' AND message <> '' AND substr(data, 1, 9) = '{"logSeq"')`;
  return [
    `CREATE TABLE job_logs (
      workspace_id TEXT NOT NULL,
      job_id TEXT NOT NULL,
      attempt INTEGER NOT NULL,
      line_feeds BIGINT NOT NULL,
      size_bytes BIGINT NOT NULL,
      is_line_open INTEGER NOT NULL,
      first_at BIGINT NOT NULL,
      last_at BIGINT NOT NULL,
      unmarked_bytes BIGINT NOT NULL,
      unmarked_pieces INTEGER NOT NULL,
      PRIMARY KEY (workspace_id, job_id, attempt)
    )${keyed}`,
    `CREATE TABLE job_log_marks (
      workspace_id TEXT NOT NULL,
      job_id TEXT NOT NULL,
      attempt INTEGER NOT NULL,
      line BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      byte BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, job_id, attempt, line, seq)
    )${keyed}`,
    // The next piece of a running attempt gets a mark.
    `INSERT INTO job_logs (workspace_id, job_id, attempt, line_feeds, size_bytes, is_line_open,
        first_at, last_at, unmarked_bytes, unmarked_pieces)
      WITH ${pieces}, totals AS (
        SELECT workspace_id, job_id, attempt, MAX(seq) AS last_seq, SUM(line_feeds) AS line_feeds,
          SUM(size_bytes) AS size_bytes, MIN(at) AS first_at, MAX(at) AS last_at
        FROM pieces GROUP BY workspace_id, job_id, attempt)
      SELECT t.workspace_id, t.job_id, t.attempt, t.line_feeds, t.size_bytes,
        CASE WHEN substr(e.message, length(e.message), 1) = ${lineFeed} THEN 0 ELSE 1 END,
        t.first_at, t.last_at, ${MARK_BYTES}, 0
      FROM totals AS t
      JOIN job_events AS e ON e.workspace_id = t.workspace_id AND e.job_id = t.job_id
        AND e.seq = t.last_seq`,
    `INSERT INTO job_log_marks (workspace_id, job_id, attempt, line, seq, byte)
      WITH ${pieces}, placed AS (
        SELECT workspace_id, job_id, attempt, seq,
          CAST(SUM(line_feeds) OVER log - line_feeds AS BIGINT) AS line,
          CAST(SUM(size_bytes) OVER log - size_bytes AS BIGINT) AS byte,
          ROW_NUMBER() OVER log AS nth, size_bytes
        FROM pieces
        WINDOW log AS (PARTITION BY workspace_id, job_id, attempt ORDER BY seq
          ROWS UNBOUNDED PRECEDING))
      SELECT workspace_id, job_id, attempt, line, seq, byte FROM placed
      WHERE nth % ${MARK_PIECES} = 1
        OR byte / ${MARK_BYTES} <> (byte + size_bytes) / ${MARK_BYTES}`,
  ];
}
