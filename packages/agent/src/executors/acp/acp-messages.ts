import type {
  PromptResponse,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk/unstable';
import type { ToolCall, ToolCallKind, Usage } from '@signalbox/contract';
import type { ShareChanges } from '../../landing/landing-options.ts';
import { readClaudeLimit } from '../claude-failure.ts';
import type { ConversationHost } from '../conversation.ts';
import { objectOf, textOf } from '../json-fields.ts';
import type { ToldLimit } from '../judge-failure.ts';
import { type LogPart, plainPart, planPart } from '../log-part.ts';
import { indent, shortenOutput, withoutWorktree } from '../tool-output.ts';
import { findOption } from './acp-session.ts';
import { UsageCount } from './acp-usage.ts';
import { cut } from './approval.ts';
import { describeAction, type ToolCallState } from './tool-action.ts';

/*
 * The only file that reads the messages of an ACP tool. All of them are optional, out of order and
 * different by tool: some tools ask for a permission before they name the tool call, some send the
 * diff with the call and not with the permission.
 */

/** The meaning of a message for the timeline. */
export interface ReadUpdate {
  /** For the log; empty for messages that are not shown. */
  parts: readonly LogPart[];
  /** The tool's current activity, in a few words. */
  progress?: string;
  /** The tool call that has begun or ended its work: a permission for it is used. */
  usedToolCallId?: string;
  /** A tool call that has just ended. */
  ended?: EndedCall;
}

export interface EndedCall {
  call: ToolCallState;
  /** False: it failed, and no program of it has run as far as the tool tells. */
  hasActed: boolean;
  /** Why the tool itself refused it; '' if it did not. */
  refusal: string;
}

export interface ReaderOptions {
  cwd: string;
  share: ShareChanges;
  redact: ConversationHost['redact'];
  /** The tool's `usage` is that of its last call of the model, so what a turn used is unknown. */
  countsLastCallOnly?: boolean;
  /** The cost of the session when the attempt began. */
  sessionCostUsd?: number;
}

/** Kept of the beginning of an output, and of its end. */
const OUTPUT_CHARS = 2_000;
const PATCH_CHARS = 10_000;
const MESSAGE_CHARS_MAX = 200_000;
/** Tool calls that are remembered; one that is older has ended. */
const CALLS_MAX = 500;

type Call = ToolCallState & {
  status: string;
  isShown: boolean;
  /** Output that came apart from the content (`terminal_output_delta`). */
  output: string;
  exitCode: number | null;
};

/** Reads the messages of a tool during one attempt, over all its processes. */
export class AcpReader {
  readonly #options: ReaderOptions;
  readonly #calls = new Map<string, Call>();
  #message = '';
  #isMessageOver = false;
  #isLineOpen = false;
  #lastPlan = '';
  #isSpeaking = false;
  #limit: ToldLimit | null = null;
  #context: { contextTokens?: number; contextTokensMax?: number } = {};
  readonly #usage: UsageCount;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#usage = new UsageCount(options);
  }

  read(update: SessionUpdate): ReadUpdate {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return this.#readMessage(update.content.type === 'text' ? update.content.text : '');
      case 'tool_call':
      case 'tool_call_update':
        return this.#onOwnLine(this.#readCall(update));
      case 'plan': {
        const plan = planPart(
          update.entries.map(({ status, content, priority }) => {
            return { text: content, status, priority };
          }),
        );
        if (plan.text === this.#lastPlan) return { parts: [] };
        this.#lastPlan = plan.text;
        return this.#onOwnLine({ parts: [plan] });
      }
      case 'current_mode_update':
        return this.#onOwnLine({ parts: plainPart(`[mode ${update.currentModeId}]\n`) });
      case 'usage_update':
        this.#usage.addCost(update.cost);
        this.#limit = readClaudeLimit(update._meta?.['_claude/rateLimit']) ?? this.#limit;
        this.#context = { contextTokens: update.used, contextTokensMax: update.size };
        return { parts: [] };
      case 'config_option_update':
        this.#usage.useModel(currentModel(update.configOptions));
        return { parts: [] };
      default:
        return { parts: [] };
    }
  }

  /** Merges what a permission request says about its tool call into what is known. */
  mergeCall(update: ToolCallUpdate): ToolCallState {
    return this.#merge(update);
  }

  /** Returns what the attempt has used so far, for the log. */
  readTurn(response: PromptResponse): LogPart[] {
    this.#usage.addTurn(response);
    const { model: _, models: __, ...counts } = this.usage() ?? {};
    const usage = { ...counts, ...this.#context };
    return Object.keys(usage).length === 0 ? [] : [{ text: '', activity: { usage } }];
  }

  /** The tool's last words; '' when it said none since its last tool call. */
  lastMessage(): string {
    return this.#message.trim();
  }

  /** The last limit of the account that was met, as far as the tool tells. */
  limit(): ToldLimit | null {
    return this.#limit;
  }

  /** The cost of the session so far, with earlier attempts. */
  sessionCostUsd(): number {
    return this.#usage.sessionCostUsd;
  }

  usage(): Usage | undefined {
    return this.#usage.sum();
  }

  #readMessage(text: string): ReadUpdate {
    if (this.#isMessageOver) this.#message = '';
    this.#isMessageOver = false;
    this.#message = (this.#message + text).slice(-MESSAGE_CHARS_MAX);
    if (text === '') return { parts: [] };
    this.#isLineOpen = !text.endsWith('\n');
    const isStart = !this.#isSpeaking;
    this.#isSpeaking = true;
    return { parts: [isStart ? { text, activity: { isMessage: true } } : { text }] };
  }

  #onOwnLine(read: ReadUpdate): ReadUpdate {
    if (read.parts.length === 0) return read;
    this.#isSpeaking = false;
    if (!this.#isLineOpen) return read;
    this.#isLineOpen = false;
    return { ...read, parts: [{ text: '\n' }, ...read.parts] };
  }

  #merge(update: ToolCallUpdate): Call {
    const known = this.#calls.get(update.toolCallId);
    const meta = objectOf(objectOf(update._meta).claudeCode);
    const locations = (update.locations ?? []).map(({ path }) => path);
    const call: Call = {
      toolCallId: update.toolCallId,
      title: update.title ?? known?.title ?? '',
      kind: kindOf(update, known),
      toolName: update.name ?? (textOf(meta.toolName) || known?.toolName || ''),
      mcpServer: textOf(objectOf(meta.mcpServer).name) || known?.mcpServer || '',
      rawInput: isEmpty(update.rawInput) ? known?.rawInput : update.rawInput,
      content: mergeContent(known?.content ?? [], update.content ?? []),
      paths: locations.length > 0 ? locations : (known?.paths ?? []),
      status: update.status ?? known?.status ?? 'pending',
      isShown: known?.isShown ?? false,
      output: shorten(this.#options.redact((known?.output ?? '') + outputOf(update))),
      exitCode: exitCodeOf(update) ?? known?.exitCode ?? null,
    };
    this.#calls.delete(call.toolCallId);
    this.#calls.set(call.toolCallId, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > CALLS_MAX && oldest !== undefined) this.#calls.delete(oldest);
    return call;
  }

  #readCall(update: ToolCallUpdate): ReadUpdate {
    const before = this.#calls.get(update.toolCallId)?.status;
    const call = this.#merge(update);
    const { status } = call;
    const isEnd = status === 'completed' || status === 'failed';
    this.#isMessageOver = true;
    const title = this.#options.redact(titleOf(call, this.#options.cwd));
    const isNow = isEnd && before !== status;
    const isStart = !call.isShown && (isEnd || status === 'in_progress' || hasInput(call));
    if (isStart) call.isShown = true;
    const text =
      (isStart ? `→ ${shortenLine(title) || call.toolCallId}\n` : '') +
      (isNow ? describeEnd(call, update, this.#options) : '');
    const isUsed = isEnd || (status === 'in_progress' && before === 'pending');
    const toolCall = activityOf(call, title, this.#options);
    return {
      parts: isStart || isNow ? [{ text, activity: { toolCall } }] : [],
      ...(call.isShown && title !== '' ? { progress: shortenLine(title) } : {}),
      ...(isUsed ? { usedToolCallId: call.toolCallId } : {}),
      ...(isNow ? { ended: endedOf(call, update) } : {}),
    };
  }
}

const kinds: Readonly<Record<ToolKind, ToolCallKind>> = {
  read: 'read',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  search: 'search',
  execute: 'execute',
  think: 'think',
  fetch: 'fetch',
  switch_mode: 'other',
  other: 'other',
};

function activityOf(call: Call, title: string, { cwd, share }: ReaderOptions): ToolCall {
  const { paths, changes } = describeAction(call, cwd);
  const isEnd = call.status === 'completed' || call.status === 'failed';
  const counted = changes.map(({ path, added, removed }) => {
    return share === 'names' ? { path } : { path, added, removed };
  });
  return {
    id: call.toolCallId,
    // A tool may send a kind of a later version of the protocol.
    kind: call.mcpServer === '' ? (kinds[call.kind] ?? 'other') : 'other',
    title: title || call.toolCallId,
    status: isEnd ? endOf(call) : 'running',
    ...(paths.length > 0 ? { locations: [...paths] } : {}),
    ...(isEnd && counted.length > 0 ? { changes: counted } : {}),
    ...(isEnd && call.exitCode !== null ? { exitCode: call.exitCode } : {}),
  };
}

function endOf(call: Call): 'done' | 'failed' {
  return hasFailed(call) ? 'failed' : 'done';
}

function endedOf(call: Call, { content }: ToolCallUpdate): EndedCall {
  const said = textOfContent(content ?? []) || call.output;
  return {
    call,
    hasActed: call.status === 'completed' || call.exitCode !== null,
    refusal: call.status === 'failed' && refusalWords.test(said) ? firstLine(said) : '',
  };
}

/** How Claude Code, opencode and Codex say that a mode or a rule of their own refused a call. */
const refusalWords =
  /^(Permission denied: |The user has specified a rule which prevents )|\brejected: blocked by policy/;

function hasFailed({ status, exitCode }: Call): boolean {
  return status === 'failed' || (exitCode !== null && exitCode !== 0);
}

/** opencode asks for a command with files outside of the worktree as a permission of no kind. */
function kindOf(update: ToolCallUpdate, known: Call | undefined): ToolKind {
  const { kind } = update;
  const isVague = kind === undefined || kind === null || kind === 'other';
  return isVague ? (known?.kind ?? 'other') : kind;
}

/** Claude and opencode announce a call by a title such as Terminal, before they know its input. */
function hasInput({ rawInput }: ToolCallState): boolean {
  return Object.keys(objectOf(rawInput)).some((name) => name !== 'cwd');
}

/** The diff of a call often comes first, and its output replaces the content later. */
function mergeContent(
  known: readonly ToolCallContent[],
  content: readonly ToolCallContent[],
): readonly ToolCallContent[] {
  if (content.length === 0) return known;
  if (content.some(({ type }) => type === 'diff')) return content;
  return [...known.filter(({ type }) => type === 'diff'), ...content];
}

/** The model that a session uses, by its configuration; '' if it does not tell. */
export function currentModel(configOptions: unknown): string {
  return textOf(findOption(configOptions, 'model')?.currentValue);
}

/** The command or the files of a tool call, without their place on this machine. */
function titleOf(call: ToolCallState, cwd: string): string {
  const action = describeAction(call, cwd);
  if (action.command !== '') return firstLine(action.command);
  return firstLine(withoutWorktree(call.title, cwd));
}

function firstLine(text: string): string {
  const [line = ''] = text.split('\n');
  return line;
}

const shortenLine = (line: string) => cut(line, 200);

function describeEnd(
  call: Call,
  update: ToolCallUpdate,
  { cwd, share, redact }: ReaderOptions,
): string {
  const { changes } = describeAction(call, cwd);
  const files = changes.map((change) => describeChange(change, share, redact)).join('');
  const said = textOfContent(update.content ?? []) || textOf(objectOf(update.rawOutput).output);
  const { exitCode: exit } = call;
  const isFailed = hasFailed(call);
  const mark = isFailed ? `  ✖ failed${exit === null ? '' : ` with exit code ${exit}`}\n` : '';
  const output = indent(shorten(redact(said || call.output)));
  return files + (changes.length > 0 && !isFailed ? '' : output) + mark;
}

function describeChange(
  change: ReturnType<typeof describeAction>['changes'][number],
  share: ShareChanges,
  redact: ReaderOptions['redact'],
): string {
  const { path, added, removed } = change;
  if (share === 'names') return `  ${path}\n`;
  const stat = `  ${path} (+${added} −${removed})\n`;
  if (share !== 'patch') return stat;
  const lines = (text: string, sign: string) =>
    text === '' ? '' : text.replace(/\n$/, '').replace(/^/gm, `  ${sign}`).concat('\n');
  const [before, after] = [redact(change.oldText), redact(change.newText)];
  return stat + shorten(lines(before, '-') + lines(after, '+'), PATCH_CHARS);
}

/** Codex reports the exit separately; opencode reports it in the details. */
function exitCodeOf({ rawOutput, _meta }: ToolCallUpdate): number | null {
  const { exit_code: plain, exitCode, metadata } = objectOf(rawOutput);
  const terminal = objectOf(objectOf(_meta).terminal_exit).exit_code;
  const code = terminal ?? plain ?? exitCode ?? objectOf(metadata).exit;
  return typeof code === 'number' && Number.isInteger(code) ? code : null;
}

/** Codex sends the output of a command while it runs, and not again at its end. */
function outputOf({ _meta }: ToolCallUpdate): string {
  return textOf(objectOf(objectOf(_meta).terminal_output_delta).data);
}

function textOfContent(content: readonly ToolCallContent[]): string {
  const texts = content.map((part) =>
    part.type === 'content' && part.content.type === 'text' ? part.content.text : '',
  );
  return texts.join('\n').replace(/^```\w*\n([\s\S]*?)\n?```\s*$/, '$1');
}

const shorten = (text: string, chars = OUTPUT_CHARS) => shortenOutput(text, chars, chars);

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || Object.keys(objectOf(value)).length === 0;
}
