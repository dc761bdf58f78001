import { type Flag, of, type RowOf, table } from './table.ts';

/** A context item, reduced as the workspace's data policy requires. */
const context_items = table('workspace_id, item_id', {
  workspace_id: 'TEXT NOT NULL',
  item_id: 'TEXT NOT NULL',
  kind: 'TEXT NOT NULL',
  title: 'TEXT NOT NULL',
  source: 'TEXT NOT NULL',
  source_ref: 'TEXT',
  thread_ref: 'TEXT',
  trust: of<'internal' | 'member' | 'external'>('TEXT NOT NULL'),
  pinned: of<Flag>('INTEGER NOT NULL'),
  /** 1: the data policy removed or shortened content. */
  truncated: of<Flag>('INTEGER NOT NULL'),
  /** SHA-256 of `text`, lower-case hex. */
  content_hash: 'TEXT NOT NULL',
  /** Estimated for title and text. */
  tokens: 'BIGINT NOT NULL',
  occurred_at: 'BIGINT NOT NULL',
  superseded_by: 'TEXT',
  valid_from: 'BIGINT',
  valid_to: 'BIGINT',
  created_by: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  updated_at: 'BIGINT NOT NULL',
  /** The last column, because SQLite reads those before a long one without it. */
  text: 'TEXT NOT NULL',
});
export type ContextItemsTable = RowOf<typeof context_items>;

const context_packs = table(['workspace_id, pack_id', 'workspace_id, run_id, version'], {
  workspace_id: 'TEXT NOT NULL',
  pack_id: 'TEXT NOT NULL',
  run_id: 'TEXT NOT NULL',
  /** Increases by one with each pack of the run. */
  version: 'BIGINT NOT NULL',
  content_hash: 'TEXT NOT NULL',
  token_budget: 'BIGINT NOT NULL',
  token_estimate: 'BIGINT NOT NULL',
  /** JSON array. */
  expansion_hints: 'TEXT NOT NULL',
  created_by: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
});
export type ContextPacksTable = RowOf<typeof context_packs>;

/** An item as it was when the pack was built; never updated. */
const context_pack_items = table('workspace_id, pack_id, position', {
  workspace_id: 'TEXT NOT NULL',
  pack_id: 'TEXT NOT NULL',
  position: 'BIGINT NOT NULL',
  item_id: 'TEXT NOT NULL',
  reason: of<'requested' | 'pinned' | 'relevant' | 'recent'>('TEXT NOT NULL'),
  kind: 'TEXT NOT NULL',
  title: 'TEXT NOT NULL',
  source: 'TEXT NOT NULL',
  source_ref: 'TEXT',
  thread_ref: 'TEXT',
  trust: of<'internal' | 'member' | 'external'>('TEXT NOT NULL'),
  truncated: of<Flag>('INTEGER NOT NULL'),
  tokens: 'BIGINT NOT NULL',
  /** When the item was last written, so how old the text is. */
  fetched_at: 'BIGINT NOT NULL',
  text: 'TEXT NOT NULL',
});
export type ContextPackItemsTable = RowOf<typeof context_pack_items>;

/** How a workspace's mail is read. The secret is sealed: see `context/mail/accounts.ts`. */
const mail_accounts = table(['workspace_id, account_id', 'workspace_id, name'], {
  workspace_id: 'TEXT NOT NULL',
  account_id: 'TEXT NOT NULL',
  name: 'TEXT NOT NULL',
  host: 'TEXT NOT NULL',
  port: 'INTEGER NOT NULL',
  tls_mode: of<'tls' | 'starttls' | 'none'>('TEXT NOT NULL'),
  /** PEM of a certificate authority to trust in addition to the usual ones. */
  ca_certificate: 'TEXT',
  user_name: 'TEXT NOT NULL',
  auth_kind: of<'password' | 'oauth'>('TEXT NOT NULL'),
  sealed_secret: 'TEXT NOT NULL',
  /** JSON array of mailbox paths; empty: the usual mailboxes of threads. */
  mailboxes: 'TEXT NOT NULL',
  created_by: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  updated_at: 'BIGINT NOT NULL',
});
export type MailAccountsTable = RowOf<typeof mail_accounts>;

export const contextTables = { context_items, context_packs, context_pack_items, mail_accounts };

export const contextIndexes = [
  `CREATE UNIQUE INDEX context_items_by_source
    ON context_items (workspace_id, text_hash(source), text_hash(source_ref))
    WHERE source_ref IS NOT NULL`,
  'CREATE INDEX context_items_by_time ON context_items (workspace_id, occurred_at, item_id)',
  `CREATE INDEX context_items_current ON context_items (workspace_id, occurred_at, item_id)
    WHERE superseded_by IS NULL`,
  `CREATE INDEX context_items_pinned ON context_items (workspace_id, occurred_at, item_id)
    WHERE pinned = 1 AND superseded_by IS NULL`,
  `CREATE INDEX context_items_by_kind ON context_items
    (workspace_id, kind, occurred_at, item_id)`,
  `CREATE INDEX context_items_by_thread ON context_items
    (workspace_id, text_hash(thread_ref), occurred_at, item_id)
    WHERE thread_ref IS NOT NULL`,
  'CREATE INDEX context_items_by_age ON context_items (workspace_id, created_at)',
  'CREATE INDEX context_pack_items_by_item ON context_pack_items (workspace_id, item_id)',
];
