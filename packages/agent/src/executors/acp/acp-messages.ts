import type {
  PromptResponse,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk/unstable';
import type { Usage } from '@signalbox/contract';
import type { ShareChanges } from '../../landing/landing-options.ts';
import { countOf, objectOf, textOf } from '../json-fields.ts';
import { describeAction, type ToolCallState } from './tool-action.ts';

/*
 * The only file that reads the messages of an ACP tool. All of them are optional, out of order and
 * different by tool: some tools ask for a permission before they name the tool call, some send the
 * diff with the call and not with the permission.
 */

/** The meaning of a message for the timeline. */
export interface ReadUpdate {
  /** Text for the log; empty for messages that are not shown. */
  text: string;
  /** The tool's current activity, in a few words. */
  progress?: string;
  /** The tool call that has begun or ended its work: a permission for it is used. */
  usedToolCallId?: string;
}

const OUTPUT_CHARS_MAX = 4_000;
const PATCH_CHARS_MAX = 20_000;
const MESSAGE_CHARS_MAX = 200_000;
/** Tool calls that are remembered; one that is older has ended. */
const CALLS_MAX = 500;

type Call = ToolCallState & { status: string; isShown: boolean };

/** Reads the messages of a tool during one attempt, over all its processes. */
export class AcpReader {
  readonly #options: { cwd: string; share: ShareChanges };
  readonly #calls = new Map<string, Call>();
  #message = '';
  #isMessageOver = false;
  #isLineOpen = false;
  #lastPlan = '';
  #usage: Usage | undefined;
  #costUsd: number | undefined;
  #model = '';

  constructor(options: { cwd: string; share: ShareChanges }) {
    this.#options = options;
  }

  read(update: SessionUpdate): ReadUpdate {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return this.#readMessage(update.content.type === 'text' ? update.content.text : '');
      case 'tool_call':
      case 'tool_call_update':
        return this.#onOwnLine(this.#readCall(update));
      case 'plan': {
        const plan = update.entries.map(({ status, content }) => `  ${marks[status]} ${content}`);
        const text = `Plan:\n${plan.join('\n')}\n`;
        if (text === this.#lastPlan) return { text: '' };
        this.#lastPlan = text;
        return this.#onOwnLine({ text });
      }
      case 'current_mode_update':
        return this.#onOwnLine({ text: `[mode ${update.currentModeId}]\n` });
      case 'usage_update':
        if (update.cost?.currency === 'USD') this.#costUsd = update.cost.amount;
        return { text: '' };
      case 'config_option_update':
        this.#model = currentModel(update.configOptions) || this.#model;
        return { text: '' };
      default:
        return { text: '' };
    }
  }

  /** Merges what a permission request says about its tool call into what is known. */
  mergeCall(update: ToolCallUpdate): ToolCallState {
    return this.#merge(update);
  }

  readTurn(response: PromptResponse): void {
    const turn = usageOf(response);
    if (turn === undefined) return;
    this.#usage = {
      inputTokens: (this.#usage?.inputTokens ?? 0) + (turn.inputTokens ?? 0),
      outputTokens: (this.#usage?.outputTokens ?? 0) + (turn.outputTokens ?? 0),
    };
  }

  /** The tool's last words; '' when it said none since its last tool call. */
  lastMessage(): string {
    return this.#message.trim();
  }

  usage(): Usage | undefined {
    if (this.#usage === undefined && this.#costUsd === undefined) return undefined;
    return {
      ...this.#usage,
      ...(this.#costUsd === undefined ? {} : { costUsd: this.#costUsd }),
      ...(this.#model === '' ? {} : { model: this.#model }),
    };
  }

  #readMessage(text: string): ReadUpdate {
    if (this.#isMessageOver) this.#message = '';
    this.#isMessageOver = false;
    this.#message = (this.#message + text).slice(-MESSAGE_CHARS_MAX);
    if (text !== '') this.#isLineOpen = !text.endsWith('\n');
    return { text };
  }

  #onOwnLine(read: ReadUpdate): ReadUpdate {
    if (read.text === '' || !this.#isLineOpen) return read;
    this.#isLineOpen = false;
    return { ...read, text: `\n${read.text}` };
  }

  #merge(update: ToolCallUpdate): Call {
    const known = this.#calls.get(update.toolCallId);
    const meta = objectOf(objectOf(update._meta).claudeCode);
    const locations = (update.locations ?? []).map(({ path }) => path);
    const call: Call = {
      toolCallId: update.toolCallId,
      title: update.title ?? known?.title ?? '',
      kind: update.kind ?? known?.kind ?? 'other',
      toolName: update.name ?? (textOf(meta.toolName) || known?.toolName || ''),
      mcpServer: textOf(objectOf(meta.mcpServer).name) || known?.mcpServer || '',
      rawInput: isEmpty(update.rawInput) ? known?.rawInput : update.rawInput,
      content: mergeContent(known?.content ?? [], update.content ?? []),
      paths: locations.length > 0 ? locations : (known?.paths ?? []),
      status: update.status ?? known?.status ?? 'pending',
      isShown: known?.isShown ?? false,
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
    let text = '';
    const title = titleOf(call, this.#options.cwd);
    if (!call.isShown && (isEnd || status === 'in_progress' || title !== '')) {
      text += `→ ${title || call.toolCallId}\n`;
      call.isShown = true;
    }
    if (isEnd && before !== status) text += describeEnd(call, update, this.#options);
    const isUsed = isEnd || (status === 'in_progress' && before === 'pending');
    return {
      text,
      ...(title === '' ? {} : { progress: title }),
      ...(isUsed ? { usedToolCallId: call.toolCallId } : {}),
    };
  }
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

const marks = { pending: '☐', in_progress: '▸', completed: '☑' } as const;

/** The model that a session uses, by its configuration; '' if it does not tell. */
export function currentModel(configOptions: unknown): string {
  for (const option of Array.isArray(configOptions) ? configOptions.map(objectOf) : []) {
    const isModel = option.category === 'model' || option.id === 'model';
    if (isModel && textOf(option.currentValue) !== '') return textOf(option.currentValue);
  }
  return '';
}

/** The command or the files of a tool call, without their place on this machine. */
function titleOf(call: ToolCallState, cwd: string): string {
  const action = describeAction(call, cwd);
  if (action.command !== '') return firstLine(action.command);
  return firstLine(call.title.replaceAll(`${cwd}/`, '').replaceAll(cwd, '.'));
}

function firstLine(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length <= 200 ? line : `${line.slice(0, 199).toWellFormed()}…`;
}

function describeEnd(
  call: ToolCallState & { status: string },
  update: ToolCallUpdate,
  { cwd, share }: { cwd: string; share: ShareChanges },
): string {
  const { changes } = describeAction(call, cwd);
  const files = changes.map((change) => describeChange(change, share)).join('');
  const output = textOfContent(update.content ?? []) || textOf(objectOf(update.rawOutput).output);
  const exit = exitCodeOf(update.rawOutput);
  const isFailed = call.status === 'failed' || (exit !== null && exit !== 0);
  const mark = isFailed ? `  ✖ failed${exit === null ? '' : ` with exit code ${exit}`}\n` : '';
  return files + (changes.length > 0 && !isFailed ? '' : indent(shorten(output))) + mark;
}

function describeChange(
  change: ReturnType<typeof describeAction>['changes'][number],
  share: ShareChanges,
): string {
  const { path, added, removed } = change;
  if (share === 'names') return `  ${path}\n`;
  const stat = `  ${path} (+${added} −${removed})\n`;
  if (share === 'stat') return stat;
  const lines = (text: string, sign: string) =>
    text === '' ? '' : text.replace(/\n$/, '').replace(/^/gm, `  ${sign}`).concat('\n');
  return stat + shorten(lines(change.oldText, '-') + lines(change.newText, '+'), PATCH_CHARS_MAX);
}

function exitCodeOf(rawOutput: unknown): number | null {
  const { exit_code: snake, exitCode: camel } = objectOf(rawOutput);
  const code = snake ?? camel;
  return typeof code === 'number' && Number.isInteger(code) ? code : null;
}

function textOfContent(content: readonly ToolCallContent[]): string {
  const texts = content.map((part) =>
    part.type === 'content' && part.content.type === 'text' ? part.content.text : '',
  );
  return texts.join('\n').replace(/^```\w*\n([\s\S]*?)\n?```\s*$/, '$1');
}

/** Keeps the beginning and the end: a test's failure is usually at the end. */
function shorten(text: string, charsMax = OUTPUT_CHARS_MAX): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const omitted = text.length - 2 * half;
  const head = text.slice(0, half).toWellFormed();
  return `${head}\n… ${omitted} characters left out …\n${text.slice(-half).toWellFormed()}`;
}

function indent(text: string): string {
  if (text.trim() === '') return '';
  return `${text.trimEnd().replace(/^/gm, '  ')}\n`;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || Object.keys(objectOf(value)).length === 0;
}

/** Cached input counts as input. The sum is the only figure that all tools count alike. */
function usageOf(response: PromptResponse): Usage | undefined {
  const { usage } = response;
  if (usage !== undefined && usage !== null) {
    const outputTokens = countOf(usage.outputTokens);
    return { inputTokens: Math.max(0, countOf(usage.totalTokens) - outputTokens), outputTokens };
  }
  const quota = objectOf(objectOf(objectOf(response._meta).quota).token_count);
  if (Object.keys(quota).length === 0) return undefined;
  return { inputTokens: countOf(quota.input_tokens), outputTokens: countOf(quota.output_tokens) };
}
