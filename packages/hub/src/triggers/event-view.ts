/** An inbound event as conditions and templates see it; the names are those of their paths. */
export interface EventView {
  id: string;
  channel: 'ingest' | 'chat';
  source: string;
  type: string;
  title: string | null;
  content: string | null;
  actor: string | null;
  threadRef: string | null;
  sourceRef: string | null;
  occurredAt: string;
  contextItemId: string | null;
  data: unknown;
  /** Extension attributes of a CloudEvent. */
  extensions: Record<string, unknown>;
}
