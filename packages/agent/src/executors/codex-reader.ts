import type { Plan, Usage } from '@signalbox/contract';
import { readCodexSession } from './codex-session.ts';
import type { ExecutorReport, OutputReader, ReaderMeans, ReadLine } from './executor.ts';
import { countOf, type JsonObject, listOf, objectOf, parseObject, textOf } from './json-fields.ts';
import { judgeFailure } from './judge-failure.ts';
import { plainPart, planPart } from './log-part.ts';
import { cleanOutput, indent, shortenOutput } from './tool-output.ts';

/** Codex runs each command in a login shell. */
const shellCommand = /^(?:\/\S*\/)?(?:ba|z)?sh -l?c (?:'([\s\S]*)'|(\S+))$/;
/** Codex announces each new try so; the turn continues. */
const retry = /^Reconnecting\.\.\. (\d+)\/(\d+)(?: \((.*)\))?$/s;

/** Reads the events of `codex exec --json`, one JSON object per line. */
export class CodexReader implements OutputReader {
  readonly #means: ReaderMeans;
  readonly #model: string | undefined;
  readonly #report: ExecutorReport = {};
  readonly #spent = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  #hasCompletedTurn = false;

  /**
   * @param model that Codex was told to use.
   * @param mode the sandbox that it runs in.
   */
  constructor(means: ReaderMeans, model?: string, mode?: string) {
    if (mode !== undefined) this.#report.mode = mode;
    this.#means = means;
    this.#model = model;
  }

  readLine(line: string): ReadLine {
    const event = parseObject(line);
    return event === null ? { parts: plainPart(`${line}\n`) } : this.#readEvent(event);
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
      const sessionId = textOf(event.thread_id);
      this.#report.sessionId = sessionId;
      const model = this.#model === undefined ? {} : { model: this.#model };
      const activity = { session: { sessionId, tool: 'codex', ...model } };
      return { parts: [{ text: `[session ${sessionId}]\n`, activity }], progress: 'Started.' };
    }
    if (type === 'turn.completed') return this.#addUsage(objectOf(event.usage));
    if (type === 'turn.failed') return this.#fail(textOf(objectOf(event.error).message));
    if (type === 'error') return this.#fail(textOf(event.message));
    if (!type.startsWith('item.')) return { parts: [] };
    const item = objectOf(event.item);
    // Codex itself writes items of errors, such as warnings about its configuration.
    const hasAnswer = item.type === 'error' ? {} : { hasAnswer: true as const };
    return { ...this.#readItem(type, item), ...hasAnswer };
  }

  #readItem(type: string, item: JsonObject): ReadLine {
    const isCompleted = type === 'item.completed';
    if (item.type === 'agent_message' && isCompleted) {
      this.#report.message = textOf(item.text);
      const activity = { isMessage: true };
      return { parts: [{ text: `${this.#report.message}\n`, activity }] };
    }
    if (item.type === 'command_execution') return this.#readCommand(type, item);
    if (item.type === 'file_change' && isCompleted) return this.#readChange(item);
    if (item.type === 'todo_list') return { parts: [planPart(readTodos(item.items))] };
    if (item.type === 'error') return { parts: plainPart(`error: ${textOf(item.message)}\n`) };
    return { parts: [] };
  }

  #readChange(item: JsonObject): ReadLine {
    const changes = listOf(item.changes)
      .map(objectOf)
      .map(({ kind, path }) => ({
        kind: textOf(kind),
        path: cleanOutput(textOf(path), this.#means),
      }));
    const lines = changes.map(({ kind, path }) => `→ ${kind} ${path}\n`);
    const [first] = changes;
    if (first === undefined) return { parts: [] };
    const title = changes.length === 1 ? `${first.kind} ${first.path}` : `${changes.length} files`;
    const toolCall = {
      ...({ id: textOf(item.id), kind: 'edit', title } as const),
      status: item.status === 'failed' ? ('failed' as const) : ('done' as const),
      changes: changes.map(({ path }) => ({ path })),
    };
    return { parts: [{ text: lines.join(''), activity: { toolCall } }] };
  }

  #readCommand(type: string, item: JsonObject): ReadLine {
    const command = cleanOutput(commandOf(textOf(item.command)), this.#means);
    const call = { id: textOf(item.id), kind: 'execute', title: command } as const;
    if (type === 'item.started') {
      const activity = { toolCall: { ...call, status: 'running' as const } };
      return { parts: [{ text: `→ ${command}\n`, activity }], progress: command };
    }
    if (type !== 'item.completed') return { parts: [] };
    const said = cleanOutput(textOf(item.aggregated_output), this.#means);
    const output = indent(shortenOutput(said.trimEnd()));
    const isFailed = item.status === 'failed' || (item.exit_code ?? 0) !== 0;
    const exit = exitCodeOf(item.exit_code);
    const status = isFailed ? 'failed' : 'done';
    const activity = { toolCall: { ...call, status, ...exit } } as const;
    const mark = exit.exitCode === undefined ? 'failed' : `exit code ${exit.exitCode}`;
    return { parts: [{ text: (isFailed ? `  ✖ ${mark}\n` : '') + output, activity }] };
  }

  #fail(message: string): ReadLine {
    const [, attempt, triesMax, why] = retry.exec(message) ?? [];
    const summary = sentenceOf(why ?? message) || 'Codex reported a failure.';
    const isKnown = this.#report.failure?.summary === summary;
    this.#report.failure = judgeFailure({ sentence: summary }, this.#means.nowMs());
    if (attempt !== undefined) {
      const progress = `The model did not answer: try ${attempt} of ${triesMax}. ${summary}`;
      return { parts: plainPart(`… ${progress}\n`), progress };
    }
    // Codex repeats its last error as the reason of the failed turn.
    return { parts: plainPart(isKnown ? '' : `error: ${summary}\n`) };
  }

  #addUsage(usage: JsonObject): ReadLine {
    this.#spent.inputTokens += countOf(usage.input_tokens);
    this.#spent.outputTokens += countOf(usage.output_tokens);
    this.#spent.cachedInputTokens += countOf(usage.cached_input_tokens);
    this.#hasCompletedTurn = true;
    // Codex recovered from earlier errors, such as a lost connection.
    delete this.#report.failure;
    return { parts: [{ text: '', activity: { usage: { ...this.#spent } } }] };
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

/** Codex knows no step that is being worked on. */
function readTodos(items: unknown): Plan['entries'] {
  return listOf(items)
    .map(objectOf)
    .map(({ text, completed }) => ({
      text: textOf(text),
      status: completed === true ? 'completed' : 'pending',
    }));
}

function exitCodeOf(value: unknown): { exitCode?: number } {
  return typeof value === 'number' && Number.isInteger(value) ? { exitCode: value } : {};
}
