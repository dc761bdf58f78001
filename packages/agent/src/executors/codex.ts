import {
  type Executor,
  ExecutorMissingError,
  type ExecutorReport,
  type OutputReader,
  type ReadLine,
} from './executor.ts';
import { findOnPath, readVersion } from './find-on-path.ts';
import { countOf, type JsonObject, listOf, objectOf, parseObject, textOf } from './json-fields.ts';

export interface CodexExecutorOptions {
  model?: string;
  /** Codex's own sandbox. Default `workspace-write`; read-only jobs always use `read-only`. */
  sandbox?: 'read-only' | 'workspace-write' | 'danger-full-access';
  /** Additional arguments, passed unchanged. */
  args?: readonly string[];
}

const SHOWN_CHARS_MAX = 2_000;

/**
 * Runs Codex non-interactively: `codex exec --json` prints one event per line. These events name
 * neither the model nor a cost, so the requested model is reported and the cost stays unknown.
 */
export function createCodexExecutor(options: CodexExecutorOptions = {}): Executor {
  return {
    name: 'codex',
    async check(env) {
      const file = await findOnPath('codex', env);
      if (file === null) {
        throw new ExecutorMissingError(
          'codex is not on the PATH; install Codex and log it in, or choose another executor.',
        );
      }
      return { version: await readVersion(file, env) };
    },
    plan({ promptText, isReadOnly }) {
      const sandbox = isReadOnly ? 'read-only' : (options.sandbox ?? 'workspace-write');
      const args = ['exec', '--json', '--sandbox', sandbox];
      if (options.model !== undefined) args.push('--model', options.model);
      // A dash makes Codex read the prompt from standard input, so it may begin with any character.
      args.push(...(options.args ?? []), '-');
      return { file: 'codex', args, stdin: promptText, reader: createCodexReader(options.model) };
    },
  };
}

export function createCodexReader(model: string | undefined): OutputReader {
  const report: ExecutorReport = {};
  let inputTokens = 0;
  let outputTokens = 0;
  let hasCompletedTurn = false;

  function readItem(type: string, item: JsonObject): ReadLine {
    const isCompleted = type === 'item.completed';
    if (item.type === 'agent_message' && isCompleted) {
      report.message = textOf(item.text);
      return { text: `${report.message}\n` };
    }
    if (item.type === 'command_execution') return readCommand(type, item);
    if (item.type === 'file_change' && isCompleted) return readFileChange(item);
    if (item.type === 'error') return { text: `error: ${textOf(item.message)}\n` };
    return { text: '' };
  }

  function fail(message: string): ReadLine {
    const summary = message || 'Codex reported a failure.';
    report.failure = { code: 'tool_error', summary };
    return { text: `error: ${summary}\n` };
  }

  function readEvent(event: JsonObject): ReadLine {
    const type = textOf(event.type);
    if (type === 'thread.started') {
      report.sessionId = textOf(event.thread_id);
      return { text: `[session ${report.sessionId}]\n`, progress: 'Started.' };
    }
    if (type === 'turn.completed') {
      const usage = objectOf(event.usage);
      inputTokens += countOf(usage.input_tokens);
      outputTokens += countOf(usage.output_tokens);
      hasCompletedTurn = true;
      // Codex recovered from earlier errors, such as a lost connection.
      delete report.failure;
    }
    if (type === 'turn.failed') return fail(textOf(objectOf(event.error).message));
    if (type === 'error') return fail(textOf(event.message));
    if (type.startsWith('item.')) return readItem(type, objectOf(event.item));
    return { text: '' };
  }

  return {
    readLine(line) {
      const event = parseObject(line);
      return event === null ? { text: `${line}\n` } : readEvent(event);
    },
    report() {
      const usage = { inputTokens, outputTokens, ...(model === undefined ? {} : { model }) };
      if (hasCompletedTurn || report.failure !== undefined) return { ...report, usage };
      const summary = 'Codex ended without completing its turn.';
      return { ...report, usage, failure: { code: 'no_result', summary } };
    },
  };
}

function readCommand(type: string, item: JsonObject): ReadLine {
  const command = textOf(item.command).split('\n')[0] ?? '';
  if (type === 'item.started') return { text: `→ ${command}\n`, progress: command };
  if (type !== 'item.completed') return { text: '' };
  const output = textOf(item.aggregated_output).trimEnd();
  const shown = output.length <= SHOWN_CHARS_MAX ? output : `${output.slice(0, SHOWN_CHARS_MAX)}…`;
  return { text: shown === '' ? '' : `${shown.replace(/^/gm, '  ')}\n` };
}

function readFileChange(item: JsonObject): ReadLine {
  const changes = listOf(item.changes).map(objectOf);
  return {
    text: changes.map((c) => `→ ${textOf(c.kind)} ${textOf(c.path)}\n`).join(''),
  };
}
