/**
 * Claims read the active lanes of a repository only. A lane to which no pending or running entry
 * belongs becomes idle after 10 minutes. The index answers a claim without reading the
 * requirements.
 */
export function idleLanes(): string[] {
  return [
    'ALTER TABLE queue_lanes ADD COLUMN idle INTEGER NOT NULL DEFAULT 0',
    `CREATE INDEX queue_lanes_active ON queue_lanes (workspace_id, queue, repo_id, kind, lane_id)
      WHERE idle = 0`,
  ];
}
