import {
  emptyWorkspaceHints,
  type Hints,
  packHints,
  type Wake,
  type WorkspaceHints,
} from './hint-payload.ts';

/** Between two notices: what happens meanwhile shares the next one. */
const NOTICE_INTERVAL_MS = 3;
/** Agents of a workspace that one notice names; a payload holds fewer. */
const NAMED_MAX = 200;

export interface HintSenderOptions {
  hubId: string;
  /** Whether there is anybody to tell. */
  hasOthers: () => boolean;
  /** Sends payloads; may fail, since hints may be lost. */
  notify: (payloads: string[]) => Promise<void>;
}

/** Gathers what other hubs should hear of, and tells it after the fact, a few times in 10 ms. */
export class HintSender {
  readonly #options: HintSenderOptions;
  #pending: Hints;
  #isSending = false;

  constructor(options: HintSenderOptions) {
    this.#options = options;
    this.#pending = this.#nothing();
  }

  tellWake(workspaceId: string, wake: Wake): void {
    this.#tell(workspaceId, (what) => {
      if (wake.kind === 'lane') what.lanes[wake.laneId] = (what.lanes[wake.laneId] ?? 0) + 1;
      else if (wake.kind === 'workspace') what.all = true;
      else if (what.agents.includes(wake.agentId)) return;
      else if (what.agents.length < NAMED_MAX) what.agents.push(wake.agentId);
      else what.more = true;
    });
  }

  tellUncertainty(workspaceId: string, uncertaintyId: string): void {
    this.#tell(workspaceId, ({ uncertainties }) => void uncertainties.push(uncertaintyId));
  }

  tellTokens(): void {
    if (!this.#options.hasOthers()) return;
    this.#pending.tokens = true;
    this.#sendSoon();
  }

  #tell(workspaceId: string, add: (what: WorkspaceHints) => void): void {
    if (!this.#options.hasOthers()) return;
    const { workspaces } = this.#pending;
    const what = workspaces[workspaceId] ?? emptyWorkspaceHints();
    workspaces[workspaceId] = what;
    add(what);
    this.#sendSoon();
  }

  #sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    const hints = this.#pending;
    this.#pending = this.#nothing();
    // A notice that fails is as one that is lost: whoever waits looks for itself.
    await this.#options.notify(packHints(hints)).catch(() => undefined);
    setTimeout(() => {
      this.#isSending = false;
      const { tokens, workspaces } = this.#pending;
      if (tokens || Object.keys(workspaces).length > 0) this.#sendSoon();
    }, NOTICE_INTERVAL_MS);
  }

  #nothing(): Hints {
    return { hubId: this.#options.hubId, workspaces: {}, tokens: false, more: false };
  }
}
