import type { Usage } from '@signalbox/contract';
import {
  type Executor,
  ExecutorMissingError,
  type ExecutorReport,
  type OutputReader,
  type ReadLine,
} from './executor.ts';
import { findOnPath, readVersion } from './find-on-path.ts';
import { countOf, type JsonObject, listOf, objectOf, parseObject, textOf } from './json-fields.ts';

export interface ClaudeExecutorOptions {
  model?: string;
  /**
   * Claude Code's `--permission-mode`. No person can answer a prompt, so Claude Code refuses what
   * the mode does not allow. Default `acceptEdits`: files may be changed, commands need
   * `allowedTools`.
   */
  permissionMode?: 'default' | 'acceptEdits' | 'plan' | 'dontAsk' | 'bypassPermissions';
  /** Permission rules such as `Bash(npm test:*)`. */
  allowedTools?: readonly string[];
  /** Additional arguments, passed unchanged. */
  args?: readonly string[];
}

const writingTools = 'Edit,MultiEdit,Write,NotebookEdit';
const SHOWN_CHARS_MAX = 2_000;

/**
 * Runs Claude Code in headless mode: it prints one JSON event per line, which is read for the
 * timeline, the session, the tokens and the cost
 * (https://docs.claude.com/en/docs/claude-code/headless).
 */
export function createClaudeExecutor(options: ClaudeExecutorOptions = {}): Executor {
  return {
    name: 'claude',
    async check(env) {
      const file = await findOnPath('claude', env);
      if (file === null) {
        throw new ExecutorMissingError(
          'claude is not on the PATH; install Claude Code and log it in, or choose another executor.',
        );
      }
      return { version: await readVersion(file, env) };
    },
    plan({ promptText, isReadOnly }) {
      const args = ['-p', '--output-format', 'stream-json', '--verbose'];
      args.push('--permission-mode', options.permissionMode ?? 'acceptEdits');
      if (options.model !== undefined) args.push('--model', options.model);
      const { allowedTools = [] } = options;
      if (allowedTools.length > 0) args.push('--allowedTools', allowedTools.join(','));
      if (isReadOnly) args.push('--disallowedTools', writingTools);
      args.push(...(options.args ?? []));
      return { file: 'claude', args, stdin: promptText, reader: createClaudeReader() };
    },
  };
}

export function createClaudeReader(): OutputReader {
  const report: ExecutorReport = {};
  let model = '';
  let hasResult = false;

  function readSystem(event: JsonObject): ReadLine {
    if (event.subtype !== 'init') return { text: '' };
    report.sessionId = textOf(event.session_id);
    model = textOf(event.model);
    return { text: `[session ${report.sessionId}, ${model}]\n`, progress: 'Started.' };
  }

  function readResult(event: JsonObject): ReadLine {
    hasResult = true;
    const message = textOf(event.result);
    const subtype = textOf(event.subtype);
    if (message !== '') report.message = message;
    if (textOf(event.session_id) !== '') report.sessionId = textOf(event.session_id);
    if (event.is_error === true || subtype.startsWith('error')) {
      const summary = message || `Claude Code ended with ${subtype || 'an error'}.`;
      report.failure = { code: subtype.startsWith('error') ? subtype : 'tool_error', summary };
    }
    report.usage = usageOf(event, model);
    // The text was already logged as the assistant's last message.
    return { text: '' };
  }

  return {
    readLine(line) {
      const event = parseObject(line);
      if (event === null) return { text: `${line}\n` };
      if (event.type === 'system') return readSystem(event);
      if (event.type === 'assistant') return readAssistant(objectOf(event.message));
      if (event.type === 'user') return { text: readToolResults(objectOf(event.message)) };
      if (event.type === 'result') return readResult(event);
      return { text: '' };
    },
    report() {
      if (hasResult) return report;
      const summary = 'Claude Code ended without a result.';
      return { ...report, failure: { code: 'no_result', summary } };
    },
  };
}

function readAssistant(message: JsonObject): ReadLine {
  let text = '';
  let progress: string | undefined;
  for (const part of listOf(message.content).map(objectOf)) {
    if (part.type === 'text') text += `${textOf(part.text)}\n`;
    if (part.type !== 'tool_use') continue;
    progress = describeToolUse(textOf(part.name), objectOf(part.input));
    text += `→ ${progress}\n`;
  }
  return progress === undefined ? { text } : { text, progress };
}

/** Picks the most informative argument of common tools. */
function describeToolUse(name: string, input: JsonObject): string {
  const argument = ['command', 'file_path', 'path', 'pattern', 'url', 'description']
    .map((key) => textOf(input[key]))
    .find((value) => value !== '');
  return argument === undefined ? name : `${name}: ${shorten(argument.split('\n')[0] ?? '')}`;
}

function readToolResults(message: JsonObject): string {
  return listOf(message.content)
    .map(objectOf)
    .filter((part) => part.type === 'tool_result')
    .map((part) => indent(shorten(contentOf(part.content))))
    .join('');
}

/** A tool result is a text, or a list of parts, some of which are text. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = listOf(content).map(objectOf);
  return parts.map((part) => textOf(part.text)).join('\n');
}

function shorten(text: string): string {
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}

function indent(text: string): string {
  if (text.trim() === '') return '';
  return `${text.trimEnd().replace(/^/gm, '  ')}\n`;
}

/** Cached input counts as input: the model read it, and it is billed at its own price. */
function usageOf(event: JsonObject, model: string): Usage {
  const usage = objectOf(event.usage);
  const cost = event.total_cost_usd;
  return {
    inputTokens:
      countOf(usage.input_tokens) +
      countOf(usage.cache_creation_input_tokens) +
      countOf(usage.cache_read_input_tokens),
    outputTokens: countOf(usage.output_tokens),
    ...(typeof cost === 'number' && cost >= 0 ? { costUsd: cost } : {}),
    ...(model === '' ? {} : { model }),
  };
}
