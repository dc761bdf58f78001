import type { Plan, ToolCall } from '@signalbox/contract';
import { failureOfClaude, readClaudeLimit } from './claude-failure.ts';
import { usageOfClaude, usageOfMessages } from './claude-usage.ts';
import type { ExecutorReport, OutputReader, ReaderMeans, ReadLine } from './executor.ts';
import { isObject, type JsonObject, listOf, objectOf, parseObject, textOf } from './json-fields.ts';
import type { ToldLimit } from './judge-failure.ts';
import { claudeToolKinds, indentParts, type LogPart, plainPart, planPart } from './log-part.ts';
import { cleanOutput, indent, shortenOutput } from './tool-output.ts';

const ARGUMENT_CHARS_MAX = 200;
const DENIED_MAX = 50;
/** Notes of Claude Code to its model, which say nothing to people. */
const internalLine = /^.*\(internal ID - do not mention to user.*$\n?/gm;
const exitCode = /^Exit code (\d+)\n?/;

/** A call with its name for people, such as `Bash: npm test`. */
interface Call {
  label: string;
  call: ToolCall;
}

/**
 * Reads Claude Code's events, one JSON object per line
 * (https://docs.claude.com/en/docs/claude-code/headless).
 */
export class ClaudeReader implements OutputReader {
  readonly #means: ReaderMeans;
  readonly #report: ExecutorReport = {};
  readonly #denied = new Set<string>();
  /** Calls without a result yet, by their ID, in order. */
  readonly #calls = new Map<string, Call>();
  /** The call whose line was the last one. */
  #lastCall = '';
  #model = '';
  #hasResult = false;
  #lastError = '';
  #limit: ToldLimit | null = null;
  /** The tokens of each message, by its ID; a message comes in several events. */
  readonly #messages = new Map<string, JsonObject>();

  constructor(means: ReaderMeans) {
    this.#means = means;
  }

  readLine(line: string): ReadLine {
    const event = parseObject(line);
    return event === null ? { parts: plainPart(`${line}\n`) } : this.#readEvent(event);
  }

  report(): ExecutorReport {
    const denied = this.#denied.size === 0 ? {} : { denied: [...this.#denied] };
    const report = { ...this.#report, ...denied };
    if (!this.#hasResult) {
      const summary = 'Claude Code ended without a result.';
      const usage = usageOfMessages(this.#messages.values(), this.#model);
      const used = usage === undefined ? {} : { usage };
      return { ...report, ...used, failure: { code: 'no_result', summary } };
    }
    if (report.failure !== undefined || report.usage !== undefined) return report;
    const said = report.message ?? '';
    const summary = `Claude Code ended without asking the model: ${said}`.trim();
    return { ...report, failure: { code: 'no_model_call', summary } };
  }

  #readEvent(event: JsonObject): ReadLine {
    if (event.type === 'system') return this.#readSystem(event);
    if (event.type === 'result') return this.#readResult(event);
    if (event.type === 'rate_limit_event') {
      this.#limit = readClaudeLimit(event.rate_limit_info) ?? this.#limit;
    }
    let read: ReadLine = { parts: [] };
    if (event.type === 'assistant') read = this.#readAssistant(event);
    else if (event.type === 'user') read = { parts: this.#readToolResults(event) };
    // Only a sub-agent's events have a parent.
    const isOfSubagent = textOf(event.parent_tool_use_id) !== '';
    return isOfSubagent ? { ...read, parts: indentParts(read.parts, '│ ') } : read;
  }

  #readSystem(event: JsonObject): ReadLine {
    if (event.subtype === 'api_retry') return readRetry(event);
    if (event.subtype === 'permission_denied') return this.#readDenial(event);
    if (event.subtype !== 'init') return { parts: [] };
    this.#model = textOf(event.model);
    const sessionId = textOf(event.session_id);
    // Each turn begins with it, also the one after a command in the background has ended.
    if (this.#report.sessionId === sessionId) return { parts: [] };
    this.#report.sessionId = sessionId;
    this.#report.mode = textOf(event.permissionMode);
    const version = textOf(event.claude_code_version);
    const tool = version === '' ? 'claude' : `claude ${version}`;
    const activity = { session: { sessionId, tool, model: this.#model } };
    const text = `[session ${sessionId}, ${this.#model}]\n`;
    return { parts: [{ text, activity }], progress: 'Started.' };
  }

  #readDenial(event: JsonObject): ReadLine {
    const what = this.#calls.get(textOf(event.tool_use_id))?.label ?? textOf(event.tool_name);
    if (this.#denied.size < DENIED_MAX) this.#denied.add(what);
    return { parts: plainPart(`✋ refused: ${what}\n`) };
  }

  #readAssistant(event: JsonObject): ReadLine {
    this.#lastError = textOf(event.error);
    const { id, usage } = objectOf(event.message);
    if (isObject(usage) && this.#lastError === '') this.#messages.set(textOf(id), usage);
    const parts: LogPart[] = [];
    let progress: string | undefined;
    for (const part of listOf(objectOf(event.message).content).map(objectOf)) {
      if (part.type === 'text') {
        parts.push({ text: `${textOf(part.text)}\n`, activity: { isMessage: true } });
      }
      if (part.type !== 'tool_use') continue;
      const { label, call } = this.#beginCall(part);
      progress = label;
      parts.push({ text: `→ ${label}\n`, activity: { toolCall: call } });
      const todos = readTodos(part);
      if (todos.length > 0) parts.push(planPart(todos));
    }
    const hasAnswer = this.#lastError === '' ? { hasAnswer: true as const } : {};
    return { parts, ...hasAnswer, ...(progress === undefined ? {} : { progress }) };
  }

  #beginCall(part: JsonObject): Call {
    const name = textOf(part.name);
    const argument = cleanOutput(argumentOf(objectOf(part.input)), this.#means);
    const kind = claudeToolKinds[name] ?? 'other';
    const named = argument === '' ? name : `${name}: ${argument}`;
    const title = kind === 'execute' && argument !== '' ? argument : named;
    const call = { id: textOf(part.id), kind, title, status: 'running' } as const;
    const label = argument === '' ? name : `${name}: ${shortenArgument(argument)}`;
    this.#calls.set(call.id, { label, call });
    this.#lastCall = call.id;
    return { label, call };
  }

  #readToolResults(event: JsonObject): LogPart[] {
    return listOf(objectOf(event.message).content)
      .map(objectOf)
      .filter((part) => part.type === 'tool_result')
      .map((part) => this.#readToolResult(part));
  }

  #readToolResult(part: JsonObject): LogPart {
    const id = textOf(part.tool_use_id);
    const known = this.#calls.get(id);
    // Several calls may run at once: an output that does not follow its call names it.
    const title = id !== this.#lastCall && known !== undefined ? `← ${known.label}\n` : '';
    this.#lastCall = '';
    this.#calls.delete(id);
    const output = cleanOutput(contentOf(part.content).replace(internalLine, ''), this.#means);
    const ended = (toolCall: Partial<ToolCall>) =>
      known === undefined ? {} : { activity: { toolCall: { ...known.call, ...toolCall } } };
    if (part.is_error !== true) {
      return { text: title + indent(shortenOutput(output)), ...ended({ status: 'done' }) };
    }
    const code = exitCode.exec(output)?.[1];
    const mark = code === undefined ? '✖ failed' : `✖ exit code ${code}`;
    return {
      text: `${title}  ${mark}\n${indent(shortenOutput(output.replace(exitCode, '')))}`,
      ...ended({ status: 'failed', ...(code === undefined ? {} : { exitCode: Number(code) }) }),
    };
  }

  #readResult(event: JsonObject): ReadLine {
    this.#hasResult = true;
    const report = this.#report;
    if (textOf(event.result) !== '') report.message = textOf(event.result);
    if (textOf(event.session_id) !== '') report.sessionId = textOf(event.session_id);
    const before = { kind: this.#lastError, limit: this.#limit, nowMs: this.#means.nowMs() };
    const failure = failureOfClaude(event, before);
    if (failure === null) delete report.failure;
    else report.failure = failure;
    const usage = usageOfClaude(event, this.#model);
    // The text was already logged as the assistant's last message.
    if (usage === undefined) return { parts: [] };
    report.usage = usage;
    const { model: _, models: __, ...used } = usage;
    return { parts: [{ text: '', activity: { usage: used } }] };
  }
}

/** Without it, a wrong key or an overloaded provider looks like minutes of silence. */
function readRetry(event: JsonObject): ReadLine {
  const { attempt, max_retries: triesMax, retry_delay_ms: delayMs, error_status: status } = event;
  const said = typeof status === 'number' ? `answered ${status}` : 'did not answer';
  const why = textOf(event.error) === '' ? '' : ` (${textOf(event.error)})`;
  const seconds = typeof delayMs === 'number' ? `, next in ${Math.ceil(delayMs / 1_000)} s` : '';
  const progress = `The model ${said}${why}: try ${attempt} of ${triesMax}${seconds}.`;
  return { parts: plainPart(`… ${progress}\n`), progress };
}

/** Picks the most informative argument of common tools, its first line. */
function argumentOf(input: JsonObject): string {
  const argument = ['command', 'file_path', 'path', 'pattern', 'url', 'description']
    .map((key) => textOf(input[key]))
    .find((value) => value !== '');
  return argument?.split('\n')[0] ?? '';
}

function shortenArgument(line: string): string {
  if (line.length <= ARGUMENT_CHARS_MAX) return line;
  return `${line.slice(0, ARGUMENT_CHARS_MAX).toWellFormed()}…`;
}

/** A tool result is a text, or a list of parts, some of which are text. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = listOf(content).map(objectOf);
  return parts.map((part) => textOf(part.text)).join('\n');
}

/** The plan of the tool TodoWrite; empty for other tools. */
function readTodos({ name, input }: JsonObject): Plan['entries'] {
  if (name !== 'TodoWrite') return [];
  return listOf(objectOf(input).todos)
    .map(objectOf)
    .map(({ content, status }) => ({ text: textOf(content), status: planStatusOf(status) }));
}

function planStatusOf(status: unknown): Plan['entries'][number]['status'] {
  return status === 'completed' || status === 'in_progress' ? status : 'pending';
}
