/** A context item, reduced as the workspace's data policy requires. */
export interface ContextItemsTable {
  workspace_id: string;
  item_id: string;
  kind: string;
  title: string;
  source: string;
  source_ref: string | null;
  thread_ref: string | null;
  trust: 'internal' | 'member' | 'external';
  pinned: 0 | 1;
  /** 1: the data policy removed or shortened content. */
  truncated: 0 | 1;
  /** SHA-256 of `text`, lower-case hex. */
  content_hash: string;
  /** Estimated for title and text. */
  tokens: number;
  occurred_at: number;
  superseded_by: string | null;
  valid_from: number | null;
  valid_to: number | null;
  created_by: string;
  created_at: number;
  updated_at: number;
  /** The last column, because SQLite reads those before a long one without it. */
  text: string;
}

export interface ContextPacksTable {
  workspace_id: string;
  pack_id: string;
  run_id: string;
  /** Increases by one with each pack of the run. */
  version: number;
  content_hash: string;
  token_budget: number;
  token_estimate: number;
  /** JSON array. */
  expansion_hints: string;
  created_by: string;
  created_at: number;
}

/** An item as it was when the pack was built; never updated. */
export interface ContextPackItemsTable {
  workspace_id: string;
  pack_id: string;
  position: number;
  item_id: string;
  reason: 'requested' | 'pinned' | 'relevant' | 'recent';
  kind: string;
  title: string;
  source: string;
  source_ref: string | null;
  thread_ref: string | null;
  trust: 'internal' | 'member' | 'external';
  truncated: 0 | 1;
  tokens: number;
  /** When the item was last written, so how old the text is. */
  fetched_at: number;
  text: string;
}

/** How a workspace's mail is read. The secret is sealed: see `context/mail/accounts.ts`. */
export interface MailAccountsTable {
  workspace_id: string;
  account_id: string;
  name: string;
  host: string;
  port: number;
  tls_mode: 'tls' | 'starttls' | 'none';
  /** PEM of a certificate authority to trust in addition to the usual ones. */
  ca_certificate: string | null;
  user_name: string;
  auth_kind: 'password' | 'oauth';
  sealed_secret: string;
  /** JSON array of mailbox paths; empty: the usual mailboxes of threads. */
  mailboxes: string;
  created_by: string;
  created_at: number;
  updated_at: number;
}

export interface ContextTables {
  context_items: ContextItemsTable;
  context_packs: ContextPacksTable;
  context_pack_items: ContextPackItemsTable;
  mail_accounts: MailAccountsTable;
}
