import {
  emptyWorkspaceHints,
  type Hint,
  type Hints,
  packHints,
  type WorkspaceHints,
} from './hint-payload.ts';

/** Pause after a notification; hints of this time share the next one. */
const SEND_INTERVAL_MS = 3;
/** Ids of one kind that are collected for a workspace; a payload holds fewer. */
const IDS_MAX = 200;

interface HintSenderOptions {
  hubId: string;
  /** Whether any other hub is alive. */
  hasOthers: () => boolean;
  /** Sends payloads. A failure is ignored, since hints may be lost. */
  send: (payloads: string[]) => Promise<void>;
}

/** Collects hints of changes that are committed and sends them to the other hubs together. */
export class HintSender {
  readonly #options: HintSenderOptions;
  #pending: Hints;
  #isSending = false;

  constructor(options: HintSenderOptions) {
    this.#options = options;
    this.#pending = this.#noHints();
  }

  /** Notifies the other hubs of a change in a workspace; null: in any workspace. */
  notify(workspaceId: string, hint: Hint): void;
  notify(workspaceId: null, hint: Hint & { id: null }): void;
  notify(workspaceId: string | null, hint: Hint): void {
    if (!this.#options.hasOthers()) return;
    if (workspaceId === null) {
      addOnce(this.#pending.kinds, hint.kind);
    } else {
      const { workspaces } = this.#pending;
      workspaces[workspaceId] ??= emptyWorkspaceHints();
      addHint(workspaces[workspaceId], hint);
    }
    this.#sendSoon();
  }

  #sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    const hints = this.#pending;
    this.#pending = this.#noHints();
    // A failed notification is a lost one: receivers look for themselves.
    await this.#options.send(packHints(hints)).catch(() => undefined);
    setTimeout(() => {
      this.#isSending = false;
      const { kinds, workspaces } = this.#pending;
      if (kinds.length > 0 || Object.keys(workspaces).length > 0) this.#sendSoon();
    }, SEND_INTERVAL_MS);
  }

  #noHints(): Hints {
    return { hubId: this.#options.hubId, workspaces: {}, kinds: [], more: false };
  }
}

function addHint(hints: WorkspaceHints, { kind, id }: Hint): void {
  if (id === null) {
    addOnce(hints.kinds, kind);
    return;
  }
  hints.ids[kind] ??= {};
  const counts = hints.ids[kind];
  const count = counts[id];
  if (count === undefined && Object.keys(counts).length >= IDS_MAX) hints.more = true;
  else counts[id] = (count ?? 0) + 1;
}

function addOnce(kinds: string[], kind: string): void {
  if (!kinds.includes(kind)) kinds.push(kind);
}
