import { lineAt, parseSource, type SyntaxNode, visitNodes } from './source-syntax.ts';

/**
 * The tables of the hub's database, each with the one folder of `packages/hub/src` whose SQL names
 * it. Other folders call that folder's functions.
 */
export const tablesByFolder: Readonly<Record<string, readonly string[]>> = {
  access: ['memberships'],
  agents: ['agents', 'patch_requests'],
  archive: ['archive_parts', 'entry_removals'],
  audit: ['audit_entries'],
  'cloud-ai-jobs': ['cloud_ai_jobs'],
  cluster: ['hubs', 'hub_leases'],
  context: [
    'context_items',
    'context_packs',
    'context_pack_items',
    'context_search',
    'context_search_data',
    'context_search_docsize',
    'context_search_rows',
    'context_search_workspaces',
    'mail_accounts',
  ],
  db: ['hub_settings', 'schema_migrations'],
  devices: ['device_sessions', 'device_code_failures'],
  idempotency: ['idempotency_keys'],
  integrations: ['integration_events', 'chat_teams', 'chat_team_claims', 'integration_secrets'],
  jobs: [
    ...['jobs', 'job_events', 'job_logs', 'job_log_marks', 'job_activities', 'job_messages'],
    'works',
  ],
  'job-templates': ['job_templates'],
  members: ['invitations'],
  notifications: ['notification_channels', 'notifications', 'slack_codes', 'visible_pages'],
  oauth: ['oauth_secrets', 'oauth_clients'],
  people: ['people', 'sessions', 'password_resets'],
  queue: ['queue_entries', 'queue_lanes', 'queue_dependencies', 'queue_settlements'],
  repositories: ['repositories', 'token_repositories'],
  review: ['review_comments'],
  runs: ['runs', 'run_milestones'],
  tokens: ['tokens'],
  triggers: ['triggers', 'trigger_firings'],
  uncertainties: ['uncertainties', 'resolutions', 'decision_rules'],
  uploads: ['uploads', 'upload_extracts', 'upload_objects', 'upload_usage'],
  workspaces: ['workspaces', 'cloud_ai_settings'],
};

const ownerOf = new Map(
  Object.entries(tablesByFolder).flatMap(([folder, tables]) =>
    tables.map((table) => [table, folder] as const),
  ),
);

/** One statement that names a table. */
export interface TableUse {
  readonly table: string;
  /** The folder that the table belongs to. */
  readonly owner: string;
  readonly line: number;
}

/** Words before a table's name in SQL text, and the functions that take a table. */
const inSql = /\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(?:ONLY\s+)?([a-z][a-z0-9_]*)\b/g;
const inWrite =
  /^(?:insertRow|insertNewRow|insertOf|upsertRow|updateRows|updateOf|sendUpdate|deleteRows|deleteOf)$/;

interface TextNode extends SyntaxNode {
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly { readonly value?: unknown }[];
}

/** The tables that the SQL texts and writes of a file name, of those that have an owner. */
export function findTableUses(file: string, source: string): TableUse[] {
  const uses: TableUse[] = [];
  const add = (table: string, offset: number) => {
    const owner = ownerOf.get(table);
    if (owner !== undefined) uses.push({ table, owner, line: lineAt(source, offset) });
  };
  visitNodes(parseSource(file, source), (node: TextNode) => {
    if (node.type === 'Literal' && typeof node.value === 'string') {
      for (const [, table = ''] of node.value.matchAll(inSql)) add(table, node.start);
    }
    if (node.type === 'TemplateLiteral') {
      const text = node.quasis?.map(({ value }) => value.raw).join(' ? ') ?? '';
      for (const [, table = ''] of text.matchAll(inSql)) add(table, node.start);
    }
    if (!inWrite.test(node.callee?.name ?? '')) return;
    // The table follows the transaction, where there is one.
    const table = node.arguments?.slice(0, 2).find(({ value }) => typeof value === 'string')?.value;
    if (typeof table === 'string') add(table, node.start);
  });
  return uses;
}

/**
 * Files that may read another folder's table in a join, because two statements could see two
 * moments. Each with its reason.
 */
export const sharedReads: Readonly<Record<string, string>> = {
  'jobs/store-list.ts queue_entries':
    'a page is filtered by columns of both tables, which two statements could not do by indexes',
  'cluster/hub-heartbeat.ts hub_settings': 'a heartbeat is one statement',
  'cluster/database-lineage.ts hub_settings': 'the id of the table tells a restored dump',
  'jobs/record-restore.ts queue_entries': 'one statement for the jobs of all workspaces',
  'jobs/store-whole.ts queue_entries': 'a job and its entry in one statement are consistent',
  'jobs/store-rounds.ts queue_entries': 'a job and its entry in one statement are consistent',
  'cloud-ai-jobs/store.ts queue_entries': 'a job and its entry in one statement are consistent',
  'tokens/store-bearers.ts memberships': 'one statement authenticates a request',
  'tokens/store-bearers.ts people': 'one statement authenticates a request',
  'tokens/store-bearers.ts queue_entries': 'one statement authenticates a request',
  'tokens/store-bearers.ts jobs': 'one statement authenticates a request',
  'tokens/store-bearers.ts agents': 'one statement authenticates a request',
  'agents/store-ended-tokens.ts tokens': 'a loop looks every second at all agents that hold leases',
  'agents/store-ended-tokens.ts memberships':
    'a loop looks every second at all agents that hold leases',
  'agents/store-ended-tokens.ts queue_entries':
    'a loop looks every second at all agents that hold leases',
  'agents/store-claim-states.ts repositories': 'one statement serves all waiting claims of a hub',
  'agents/store-claim-states.ts workspaces': 'one statement serves all waiting claims of a hub',
  'agents/store-claim-states.ts token_repositories':
    'one statement serves all waiting claims of a hub',
  'agents/store-claim-states.ts queue_entries': 'one statement serves all waiting claims of a hub',
};
