/*
 * What hubs on one PostgreSQL tell each other, as the payload of NOTIFY. A hint only says where to
 * look: one that is lost costs the receiver a look of its own, later.
 */

/** What may end a wait: an entry ready in a lane, an agent that may claim differently, anything. */
export type Wake =
  | { kind: 'lane'; laneId: string }
  | { kind: 'agent'; agentId: string }
  | { kind: 'workspace' };

/** What happened in a workspace. */
export interface WorkspaceHints {
  /** How many entries became ready in a lane. */
  lanes: Record<string, number>;
  /** Agents that may claim differently now. */
  agents: string[];
  /** Uncertainties that were answered. */
  uncertainties: string[];
  /** Whether every claim of the workspace should be tried again. */
  all: boolean;
  /** Whether more happened than fits: look for yourself. */
  more: boolean;
}

export interface Hints {
  /** The hub that tells. */
  hubId: string;
  workspaces: Record<string, WorkspaceHints>;
  /** Whether tokens or memberships have changed. */
  tokens: boolean;
  /** Whether more happened than fits, wherever: look for yourself. */
  more: boolean;
}

/** PostgreSQL takes less than 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_900;
/** Beyond this, of one workspace only its name is told. */
const WORKSPACE_BYTES_MAX = 4_000;
/** Payloads of one notice; beyond that only that something happened. */
const PAYLOADS_MAX = 16;

export function emptyWorkspaceHints(): WorkspaceHints {
  return { lanes: {}, agents: [], uncertainties: [], all: false, more: false };
}

/** As few payloads as hold the hints; what would not fit is told in fewer words. */
export function packHints(hints: Hints): string[] {
  const { hubId, tokens } = hints;
  const room = PAYLOAD_BYTES_MAX - Buffer.byteLength(JSON.stringify({ ...hints, workspaces: {} }));
  const payloads: string[] = [];
  let part: Record<string, WorkspaceHints> = {};
  let partBytes = 0;
  const close = () => {
    payloads.push(JSON.stringify({ ...hints, workspaces: part }));
    part = {};
    partBytes = 0;
  };
  for (const [workspaceId, what] of Object.entries(hints.workspaces)) {
    const isLong = sizeOf(workspaceId, what) > WORKSPACE_BYTES_MAX;
    const told = isLong ? { ...emptyWorkspaceHints(), all: what.all, more: true } : what;
    const bytes = sizeOf(workspaceId, told);
    if (partBytes + bytes > room) close();
    part[workspaceId] = told;
    partBytes += bytes;
  }
  close();
  if (payloads.length <= PAYLOADS_MAX) return payloads;
  return [JSON.stringify({ hubId, tokens, workspaces: {}, more: true })];
}

/** With what JSON puts around it. */
function sizeOf(workspaceId: string, what: WorkspaceHints): number {
  return Buffer.byteLength(JSON.stringify({ [workspaceId]: what }));
}

/** Null for what no hub of this version has said; then only looking helps. */
export function unpackHints(payload: string): Hints | null {
  try {
    const hints = JSON.parse(payload) as Partial<Hints>;
    const isWhole = typeof hints.hubId === 'string' && typeof hints.workspaces === 'object';
    return isWhole ? (hints as Hints) : null;
  } catch {
    return null;
  }
}
