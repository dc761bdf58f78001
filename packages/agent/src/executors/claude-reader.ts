import { failureOfClaude } from './claude-failure.ts';
import { usageOfClaude } from './claude-usage.ts';
import type { ExecutorReport, OutputReader, ReadLine } from './executor.ts';
import { type JsonObject, listOf, objectOf, parseObject, textOf } from './json-fields.ts';
import { indent, shortenOutput, withoutWorktree } from './tool-output.ts';

const ARGUMENT_CHARS_MAX = 200;
const DENIED_MAX = 50;
/** Notes of Claude Code to its model, which say nothing to people. */
const internalLine = /^.*\(internal ID - do not mention to user.*$\n?/gm;
const exitCode = /^Exit code (\d+)\n?/;

/**
 * Reads Claude Code's events, one JSON object per line
 * (https://docs.claude.com/en/docs/claude-code/headless).
 */
export function createClaudeReader(options: { worktree?: string } = {}): OutputReader {
  return new ClaudeReader(options.worktree ?? '');
}

class ClaudeReader implements OutputReader {
  readonly #worktree: string;
  readonly #report: ExecutorReport = {};
  readonly #denied = new Set<string>();
  /** Calls without a result yet, by their ID, in order. */
  readonly #calls = new Map<string, string>();
  /** The call whose line was the last one. */
  #lastCall = '';
  #model = '';
  #hasResult = false;
  #lastError = '';

  constructor(worktree: string) {
    this.#worktree = worktree;
  }

  readLine(line: string): ReadLine {
    const event = parseObject(line);
    return event === null ? { text: `${line}\n` } : this.#readEvent(event);
  }

  report(): ExecutorReport {
    const denied = this.#denied.size === 0 ? {} : { denied: [...this.#denied] };
    const report = { ...this.#report, ...denied };
    if (!this.#hasResult) {
      const summary = 'Claude Code ended without a result.';
      return { ...report, failure: { code: 'no_result', summary } };
    }
    if (report.failure !== undefined || report.usage !== undefined) return report;
    const said = report.message ?? '';
    const summary = `Claude Code ended without asking the model: ${said}`.trim();
    return { ...report, failure: { code: 'no_model_call', summary } };
  }

  #readEvent(event: JsonObject): ReadLine {
    if (event.type === 'system') return this.#readSystem(event);
    if (event.type === 'result') return this.#readResult(event);
    let read: ReadLine = { text: '' };
    if (event.type === 'assistant') read = this.#readAssistant(event);
    else if (event.type === 'user') read = { text: this.#readToolResults(event) };
    // Only a sub-agent's events have a parent.
    const isOfSubagent = textOf(event.parent_tool_use_id) !== '';
    return isOfSubagent ? { ...read, text: indent(read.text, '│ ') } : read;
  }

  #readSystem(event: JsonObject): ReadLine {
    if (event.subtype === 'api_retry') return readRetry(event);
    if (event.subtype === 'permission_denied') return this.#readDenial(event);
    if (event.subtype !== 'init') return { text: '' };
    this.#model = textOf(event.model);
    const sessionId = textOf(event.session_id);
    // Each turn begins with it, also the one after a command in the background has ended.
    if (this.#report.sessionId === sessionId) return { text: '' };
    this.#report.sessionId = sessionId;
    return { text: `[session ${sessionId}, ${this.#model}]\n`, progress: 'Started.' };
  }

  #readDenial(event: JsonObject): ReadLine {
    const what = this.#calls.get(textOf(event.tool_use_id)) ?? textOf(event.tool_name);
    if (this.#denied.size < DENIED_MAX) this.#denied.add(what);
    return { text: `✋ refused: ${what}\n` };
  }

  #readAssistant(event: JsonObject): ReadLine {
    this.#lastError = textOf(event.error);
    let text = '';
    let progress: string | undefined;
    for (const part of listOf(objectOf(event.message).content).map(objectOf)) {
      if (part.type === 'text') text += `${textOf(part.text)}\n`;
      if (part.type !== 'tool_use') continue;
      progress = this.#clean(describeToolUse(textOf(part.name), objectOf(part.input)));
      this.#calls.set(textOf(part.id), progress);
      this.#lastCall = textOf(part.id);
      text += `→ ${progress}\n`;
    }
    const hasAnswer = this.#lastError === '' ? { hasAnswer: true as const } : {};
    return { text, ...hasAnswer, ...(progress === undefined ? {} : { progress }) };
  }

  #readToolResults(event: JsonObject): string {
    return listOf(objectOf(event.message).content)
      .map(objectOf)
      .filter((part) => part.type === 'tool_result')
      .map((part) => this.#readToolResult(part))
      .join('');
  }

  #readToolResult(part: JsonObject): string {
    const id = textOf(part.tool_use_id);
    const call = this.#calls.get(id);
    // Several calls may run at once: an output that does not follow its call names it.
    const title = id !== this.#lastCall && call !== undefined ? `← ${call}\n` : '';
    this.#lastCall = '';
    this.#calls.delete(id);
    const output = this.#clean(contentOf(part.content).replace(internalLine, ''));
    if (part.is_error !== true) return title + indent(shortenOutput(output));
    const code = exitCode.exec(output)?.[1];
    const mark = code === undefined ? '✖ failed' : `✖ exit code ${code}`;
    return `${title}  ${mark}\n${indent(shortenOutput(output.replace(exitCode, '')))}`;
  }

  #readResult(event: JsonObject): ReadLine {
    this.#hasResult = true;
    const report = this.#report;
    if (textOf(event.result) !== '') report.message = textOf(event.result);
    if (textOf(event.session_id) !== '') report.sessionId = textOf(event.session_id);
    const failure = failureOfClaude(event, this.#lastError);
    if (failure === null) delete report.failure;
    else report.failure = failure;
    const usage = usageOfClaude(event, this.#model);
    if (usage !== undefined) report.usage = usage;
    // The text was already logged as the assistant's last message.
    return { text: '' };
  }

  #clean(text: string): string {
    return this.#worktree === '' ? text : withoutWorktree(text, this.#worktree);
  }
}

/** Without it, a wrong key or an overloaded provider looks like minutes of silence. */
function readRetry(event: JsonObject): ReadLine {
  const { attempt, max_retries: triesMax, retry_delay_ms: delayMs, error_status: status } = event;
  const said = typeof status === 'number' ? `answered ${status}` : 'did not answer';
  const why = textOf(event.error) === '' ? '' : ` (${textOf(event.error)})`;
  const seconds = typeof delayMs === 'number' ? `, next in ${Math.ceil(delayMs / 1_000)} s` : '';
  const progress = `The model ${said}${why}: try ${attempt} of ${triesMax}${seconds}.`;
  return { text: `… ${progress}\n`, progress };
}

/** Picks the most informative argument of common tools. */
function describeToolUse(name: string, input: JsonObject): string {
  const argument = ['command', 'file_path', 'path', 'pattern', 'url', 'description']
    .map((key) => textOf(input[key]))
    .find((value) => value !== '');
  const line = argument?.split('\n')[0] ?? '';
  if (line === '') return name;
  const cut = line.length > ARGUMENT_CHARS_MAX ? `${line.slice(0, ARGUMENT_CHARS_MAX)}…` : line;
  return `${name}: ${cut.toWellFormed()}`;
}

/** A tool result is a text, or a list of parts, some of which are text. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = listOf(content).map(objectOf);
  return parts.map((part) => textOf(part.text)).join('\n');
}
