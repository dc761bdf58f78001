/*
 * The notifications between hubs on one PostgreSQL, as the payload of NOTIFY. This layer carries
 * kinds and ids; the modules that send and receive them define their meaning. A hint only says
 * where to look: if one is lost, the receiver finds the change later by looking for itself.
 */

/** One change, for the other hubs. */
export interface Hint {
  kind: string;
  /** Of the thing that changed; null: anything of this kind may have changed. */
  id: string | null;
}

/** The changes in a workspace. */
export interface WorkspaceHints {
  /** How often each id was notified, by kind. */
  ids: Record<string, Record<string, number>>;
  /** Kinds of which anything may have changed. */
  kinds: string[];
  /** Whether more changed than fits here: receivers look for themselves. */
  more: boolean;
}

export interface Hints {
  /** The hub that sends them. */
  hubId: string;
  workspaces: Record<string, WorkspaceHints>;
  /** Kinds of which anything may have changed, in any workspace. */
  kinds: string[];
  /** Whether more changed than fits here, in any workspace: receivers look for themselves. */
  more: boolean;
}

/** PostgreSQL takes less than 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_900;
/** A workspace whose hints take more bytes is sent without ids. */
const WORKSPACE_BYTES_MAX = 4_000;
/** Payloads sent at a time; if there were more, one says only that something changed. */
const PAYLOADS_MAX = 16;

export function emptyWorkspaceHints(): WorkspaceHints {
  return { ids: {}, kinds: [], more: false };
}

/** As few payloads as hold the hints, with `more` in place of what would not fit. */
export function packHints(hints: Hints): string[] {
  const emptyBytes = Buffer.byteLength(JSON.stringify({ ...hints, workspaces: {} }));
  const freeBytes = PAYLOAD_BYTES_MAX - emptyBytes;
  const payloads: string[] = [];
  let part: Record<string, WorkspaceHints> = {};
  let partBytes = 0;
  const close = () => {
    payloads.push(JSON.stringify({ ...hints, workspaces: part }));
    part = {};
    partBytes = 0;
  };
  for (const [workspaceId, all] of Object.entries(hints.workspaces)) {
    const isLong = sizeOf(workspaceId, all) > WORKSPACE_BYTES_MAX;
    const sent = isLong ? { ...all, ids: {}, more: true } : all;
    const bytes = sizeOf(workspaceId, sent);
    if (partBytes + bytes > freeBytes) close();
    part[workspaceId] = sent;
    partBytes += bytes;
  }
  close();
  if (payloads.length <= PAYLOADS_MAX) return payloads;
  return [JSON.stringify({ ...hints, workspaces: {}, more: true })];
}

/** Bytes of a workspace's hints in a payload, with the JSON around them. */
function sizeOf(workspaceId: string, hints: WorkspaceHints): number {
  return Buffer.byteLength(JSON.stringify({ [workspaceId]: hints }));
}

/** Null for a payload of another version or of another sender: its hints count as lost. */
export function unpackHints(payload: string): Hints | null {
  try {
    const hints = JSON.parse(payload) as Partial<Hints>;
    const isComplete =
      typeof hints.hubId === 'string' &&
      typeof hints.workspaces === 'object' &&
      Array.isArray(hints.kinds);
    return isComplete ? (hints as Hints) : null;
  } catch {
    return null;
  }
}
