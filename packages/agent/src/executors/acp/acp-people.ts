import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionOutcome,
  RequestPermissionRequest,
} from '@agentclientprotocol/sdk/unstable';
import { HoldOverError, type Reply } from '../conversation.ts';
import { textOf } from '../json-fields.ts';
import type { Verdict } from '../permissions/permission-policy.ts';
import type { AcpHandlers } from './acp-connection.ts';
import type { EndedCall } from './acp-messages.ts';
import type { AcpTurn } from './acp-turn.ts';
import { allowOnce, askAboutAction, chooseOption, refusalOf } from './approval.ts';
import { fillField, type QuestionForm, readForm } from './question-form.ts';
import { describeAction, type ToolAction } from './tool-action.ts';

const cancelled: RequestPermissionOutcome = { outcome: 'cancelled' };

/** The part of a conversation that people, or the rules of the agent's owner, take part in. */
export class People {
  readonly #turn: AcpTurn;
  readonly #onHoldOver: (summary: string) => void;
  readonly #stopping = new AbortController();
  /** Replies that the tool was given and has not used yet, by tool call. */
  readonly #given = new Map<string, Reply[]>();
  /** Tool calls that the tool has asked about. */
  readonly #asked = new Set<string>();
  #reasons: string[] = [];
  #isListening = false;
  #untilStored: () => Promise<void> = async () => {};
  #stored: Promise<void> | null = null;
  #hasRefused = false;
  #done: Promise<void> = Promise.resolve();

  /** @param onHoldOver no person has answered while the tool waited. */
  constructor(turn: AcpTurn, onHoldOver: (summary: string) => void) {
    this.#turn = turn;
    this.#onHoldOver = onHoldOver;
  }

  readonly handlers: Pick<AcpHandlers, 'onPermission' | 'onForm'> = {
    onPermission: (request, signal) => this.#decide(request, signal),
    onForm: (request, signal) => this.#askForm(request, signal),
  };

  /**
   * From now on messages are new, and not the history of a session.
   *
   * @param untilStored resolves when the session can be resumed. People are asked after that.
   */
  listen(untilStored: () => Promise<void>): void {
    this.#isListening = true;
    this.#untilStored = untilStored;
  }

  get isListening(): boolean {
    return this.#isListening;
  }

  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  onToolCallUsed(toolCallId: string): void {
    for (const reply of this.#given.get(toolCallId) ?? []) this.later(() => reply.used());
    this.#given.delete(toolCallId);
  }

  /** Lists what the tool, its mode or its person's rules have decided instead of this agent. */
  onToolCallEnded({ call, hasActed, refusal }: EndedCall): void {
    if (this.#asked.delete(call.toolCallId)) return;
    const action = describeAction(call, this.#turn.host.cwd);
    const text = describeShort(action);
    if (refusal !== '') this.#turn.denied.push(`${text} (${refusal})`);
    const isListed = hasActed && actingKinds.has(action.kind);
    if (isListed && this.#verdictOn(action) !== 'allow') this.#turn.unasked.push(text);
  }

  /** The tool has ended a turn: it has used every reply that it was given. */
  async onTurnEnd(): Promise<void> {
    for (const toolCallId of [...this.#given.keys()]) this.onToolCallUsed(toolCallId);
    await this.#done;
  }

  /** The reasons of refusals that the tool was not told of yet. */
  takeReasons(): string[] {
    const taken = this.#reasons;
    this.#reasons = [];
    return taken;
  }

  /** Runs this after everything before it, one after the other. */
  later(action: () => Promise<void>): void {
    this.#done = this.#done.then(action);
    // `settled` reports it.
    this.#done.catch(() => this.#stopping.abort());
  }

  /** Ends all waiting: the tool is being ended. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Resolves when everything is stored. Rejects with the first failure of storing or asking. */
  settled(): Promise<void> {
    return this.#done;
  }

  async #decide(
    request: RequestPermissionRequest,
    signal: AbortSignal,
  ): Promise<RequestPermissionOutcome> {
    const { host, reader } = this.#turn;
    const action = describeAction(reader.mergeCall(request.toolCall), host.cwd);
    this.#asked.add(request.toolCall.toolCallId);
    const verdict = this.#verdictOn(action);
    if (verdict === 'allow') {
      const option = allowOnce(request.options);
      if (option !== null) return { outcome: 'selected', optionId: option.optionId };
    }
    if (verdict !== 'refuse') return await this.#askPerson(action, request, signal);
    this.#hasRefused = true;
    this.#turn.denied.push(describeShort(action));
    await host.note(`signalbox: refused by a rule: ${targetOf(action)}`);
    const option = refusalOf(request.options);
    return option === null ? cancelled : { outcome: 'selected', optionId: option.optionId };
  }

  #verdictOn(action: ToolAction): Verdict {
    const { host, permissions, agent } = this.#turn;
    const { repoId, path: clonePath } = host.repository;
    const scope = { agent: agent.name, repoId, clonePath, isReadOnly: host.isReadOnly };
    return permissions.decide(action, scope);
  }

  async #askPerson(
    action: ToolAction,
    { toolCall, options }: RequestPermissionRequest,
    signal: AbortSignal,
  ): Promise<RequestPermissionOutcome> {
    const { host, shareApprovals: share } = this.#turn;
    const redact = (text: string) => host.redact(text);
    const question = askAboutAction(action, options, { tool: this.#toolName(), share, redact });
    for (;;) {
      const reply = await this.#wait(() => host.questions.ask(question, this.#until(signal)));
      if (reply === null) return cancelled;
      const { option, reason } = chooseOption(reply, options);
      const isAllowed = option?.kind.startsWith('allow') ?? false;
      // The choice of the person is not offered any more, and nothing narrower is: ask again.
      const isVoid = option === null && reply.meaning?.startsWith('allow');
      // Stored before the tool has it: even if a process is killed now, this answer allows nothing
      // a second time. A refusal may be given again.
      if (isAllowed || isVoid) await reply.used();
      if (isVoid) continue;
      if (!isAllowed) this.#keepGiven(toolCall.toolCallId, reply);
      this.#hasRefused ||= option === null || option.kind.startsWith('reject');
      if (reason !== '') this.#reasons.push(reason);
      await host.note(`signalbox: answered: ${option?.name ?? 'refused'}`);
      return option === null ? cancelled : { outcome: 'selected', optionId: option.optionId };
    }
  }

  async #askForm(
    request: CreateElicitationRequest,
    signal: AbortSignal,
  ): Promise<CreateElicitationResponse> {
    const { host } = this.#turn;
    const form = request.mode === 'form' ? readForm(request, this.#toolName()) : null;
    if (form === null) {
      await host.note('signalbox: declined to open a page, or a form without fields.');
      return { action: 'decline' };
    }
    const toolCallId = textOf((request as { toolCallId?: unknown }).toolCallId);
    return await this.#fill(form, signal, toolCallId);
  }

  async #fill(
    { fields }: QuestionForm,
    signal: AbortSignal,
    toolCallId: string,
  ): Promise<CreateElicitationResponse> {
    const { questions } = this.#turn.host;
    const replies = await this.#wait(() =>
      Promise.all(fields.map(({ question }) => questions.ask(question, this.#until(signal)))),
    );
    if (replies === null) return { action: 'cancel' };
    for (const reply of replies) this.#keepGiven(toolCallId, reply);
    if (replies.every(({ mode }) => mode === 'dismissed')) return { action: 'decline' };
    const values = fields.map((field, index) => {
      const reply = replies[index];
      return reply === undefined ? {} : fillField(field, reply);
    });
    return { action: 'accept', content: Object.assign({}, ...values) };
  }

  /** Null: the tool does not wait any longer. */
  async #wait<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
    try {
      this.#stored ??= this.#untilStored();
      await this.#stored;
      return await ask();
    } catch (error) {
      if (error instanceof HoldOverError) {
        this.#onHoldOver('The job waits for an answer by a person.');
      } else if (!this.#stopping.signal.aborted && !this.#turn.host.signal.aborted) {
        this.later(() => Promise.reject(error));
      }
      return null;
    }
  }

  #until(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#stopping.signal, this.#turn.host.signal]);
  }

  #toolName(): string {
    const { agent, about } = this.#turn;
    return agent.name === 'acp' ? (about?.name ?? 'The tool') : agent.name;
  }

  #keepGiven(toolCallId: string, reply: Reply): void {
    this.#given.set(toolCallId, [...(this.#given.get(toolCallId) ?? []), reply]);
  }
}

/** Kinds of actions that have an effect or reach outside. The tools' own bookkeeping has none. */
const actingKinds: ReadonlySet<string> = new Set([
  'execute',
  'edit',
  'delete',
  'move',
  'fetch',
  'mcp',
  'read',
]);

function describeShort(action: ToolAction): string {
  return `${action.kind}: ${targetOf(action)}`;
}

function targetOf({ command, paths, title }: ToolAction): string {
  return command || paths.join(', ') || title;
}
