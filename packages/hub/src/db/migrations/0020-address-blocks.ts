/** Device sessions are counted by block of addresses and workspace. */
export function addressBlocks(): string[] {
  return [
    `ALTER TABLE device_sessions ADD COLUMN address_block TEXT NOT NULL DEFAULT ''`,
    'UPDATE device_sessions SET address_block = address',
    'DROP INDEX device_sessions_by_address',
    `CREATE INDEX device_sessions_by_block
      ON device_sessions (address_block, expires_at, workspace_slug)`,
  ];
}
