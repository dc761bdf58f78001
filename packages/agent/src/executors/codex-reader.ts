import type { Usage } from '@signalbox/contract';
import { readCodexSession } from './codex-session.ts';
import type { ExecutorReport, OutputReader, ReadLine } from './executor.ts';
import { countOf, type JsonObject, listOf, objectOf, parseObject, textOf } from './json-fields.ts';
import { judgeSentence } from './tool-failure.ts';
import { indent, shortenOutput, withoutWorktree } from './tool-output.ts';

export interface CodexReaderOptions {
  /** The model that Codex was told to use. */
  model?: string | undefined;
  worktree?: string;
}

/** Codex runs each command in a login shell. */
const shellCommand = /^(?:\/\S*\/)?(?:ba|z)?sh -l?c (?:'([\s\S]*)'|(\S+))$/;
/** Codex announces each new try so; the turn continues. */
const retry = /^Reconnecting\.\.\. (\d+)\/(\d+)(?: \((.*)\))?$/s;

/** Reads the events of `codex exec --json`, one JSON object per line. */
export function createCodexReader(options: CodexReaderOptions): OutputReader {
  return new CodexReader(options);
}

class CodexReader implements OutputReader {
  readonly #model: string | undefined;
  readonly #worktree: string;
  readonly #report: ExecutorReport = {};
  readonly #spent = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  #hasCompletedTurn = false;

  constructor({ model, worktree = '' }: CodexReaderOptions) {
    this.#model = model;
    this.#worktree = worktree;
  }

  readLine(line: string): ReadLine {
    const event = parseObject(line);
    return event === null ? { text: `${line}\n` } : this.#readEvent(event);
  }

  async report(env: NodeJS.ProcessEnv): Promise<ExecutorReport> {
    const report = this.#report;
    const session = await readCodexSession(report.sessionId ?? '', env);
    // A turn that failed reports no tokens; Codex's own record of the session has them.
    const counted: Usage | undefined = this.#hasCompletedTurn ? this.#spent : session.usage;
    const model = session.model ?? this.#model;
    const named = model === undefined ? {} : { model };
    const usage = counted === undefined ? {} : { usage: { ...counted, ...named } };
    if (this.#hasCompletedTurn || report.failure !== undefined) return { ...report, ...usage };
    const summary = 'Codex ended without completing its turn.';
    return { ...report, ...usage, failure: { code: 'no_result', summary } };
  }

  #readEvent(event: JsonObject): ReadLine {
    const type = textOf(event.type);
    if (type === 'thread.started') {
      this.#report.sessionId = textOf(event.thread_id);
      return { text: `[session ${this.#report.sessionId}]\n`, progress: 'Started.' };
    }
    if (type === 'turn.completed') this.#addUsage(objectOf(event.usage));
    if (type === 'turn.failed') return this.#fail(textOf(objectOf(event.error).message));
    if (type === 'error') return this.#fail(textOf(event.message));
    if (!type.startsWith('item.')) return { text: '' };
    return { ...this.#readItem(type, objectOf(event.item)), hasAnswer: true };
  }

  #readItem(type: string, item: JsonObject): ReadLine {
    const isCompleted = type === 'item.completed';
    if (item.type === 'agent_message' && isCompleted) {
      this.#report.message = textOf(item.text);
      return { text: `${this.#report.message}\n` };
    }
    if (item.type === 'command_execution') return this.#readCommand(type, item);
    if (item.type === 'file_change' && isCompleted) {
      const changes = listOf(item.changes).map(objectOf);
      const lines = changes.map((c) => `→ ${textOf(c.kind)} ${this.#clean(textOf(c.path))}\n`);
      return { text: lines.join('') };
    }
    if (item.type === 'error') return { text: `error: ${textOf(item.message)}\n` };
    return { text: '' };
  }

  #readCommand(type: string, item: JsonObject): ReadLine {
    const command = this.#clean(commandOf(textOf(item.command)));
    if (type === 'item.started') return { text: `→ ${command}\n`, progress: command };
    if (type !== 'item.completed') return { text: '' };
    const output = indent(shortenOutput(this.#clean(textOf(item.aggregated_output)).trimEnd()));
    const isFailed = item.status === 'failed' || (item.exit_code ?? 0) !== 0;
    if (!isFailed) return { text: output };
    const code = typeof item.exit_code === 'number' ? `exit code ${item.exit_code}` : 'failed';
    return { text: `  ✖ ${code}\n${output}` };
  }

  #fail(message: string): ReadLine {
    const [, attempt, triesMax, why] = retry.exec(message) ?? [];
    const summary = sentenceOf(why ?? message) || 'Codex reported a failure.';
    const isKnown = this.#report.failure?.summary === summary;
    this.#report.failure = { code: judgeSentence(summary), summary };
    if (attempt !== undefined) {
      const progress = `The model did not answer: try ${attempt} of ${triesMax}. ${summary}`;
      return { text: `… ${progress}\n`, progress };
    }
    // Codex repeats its last error as the reason of the failed turn.
    return { text: isKnown ? '' : `error: ${summary}\n` };
  }

  #addUsage(usage: JsonObject): void {
    this.#spent.inputTokens += countOf(usage.input_tokens);
    this.#spent.outputTokens += countOf(usage.output_tokens);
    this.#spent.cachedInputTokens += countOf(usage.cached_input_tokens);
    this.#hasCompletedTurn = true;
    // Codex recovered from earlier errors, such as a lost connection.
    delete this.#report.failure;
  }

  #clean(text: string): string {
    return this.#worktree === '' ? text : withoutWorktree(text, this.#worktree);
  }
}

/** The first line of a command, without the shell around it. */
function commandOf(whole: string): string {
  const [, quoted, bare] = shellCommand.exec(whole) ?? [];
  return (quoted ?? bare ?? whole).replaceAll(`'\\''`, "'").split('\n')[0] ?? '';
}

/** Some errors are the provider's JSON. */
function sentenceOf(message: string): string {
  const error = objectOf(parseObject(message)?.error);
  return textOf(error.message) || message;
}
