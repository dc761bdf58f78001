import type { ToolCallContent, ToolKind } from '@agentclientprotocol/sdk/unstable';
import type { HookTool } from '@signalbox/contract';
import { createRedactor } from '../job/redaction.ts';
import { fitText } from '../job/text-limits.ts';
import { askAboutAction } from './acp/approval.ts';
import { describeAction, type ToolCallState } from './acp/tool-action.ts';
import type { AskedCall } from './hook-transcript.ts';
import { objectOf, parseObject, textOf } from './json-fields.ts';

// An entry of the package, so that a hook of a person's session loads no agent.
export { untilCallEnded } from './hook-transcript.ts';

/** The permission that a session asks for, as its hook gets it on standard input. */
export interface HookRequest extends AskedCall {
  sessionId: string;
  cwd: string;
}

/** The texts of the question; secrets are redacted, and both are cut as those of a job are. */
export interface HookQuestion {
  prompt: string;
  context: string;
}

const PROMPT_BYTES_MAX = 8_000;
const CONTEXT_BYTES_MAX = 120_000;

export const hookToolNames: Readonly<Record<HookTool, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
};

/** The tools' own names, as Claude Code and Codex tell them to hooks. */
const kinds: Readonly<Record<string, ToolKind>> = {
  Bash: 'execute',
  PowerShell: 'execute',
  Read: 'read',
  Grep: 'search',
  Glob: 'search',
  Write: 'edit',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  apply_patch: 'edit',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
};
/** They ask for more than yes or no: only the terminal has their choices. */
const terminalOnly: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode']);

/** Reads the input of a hook; null: it is not a request for a permission. */
export function readHookRequest(text: string): HookRequest | null {
  const json = parseObject(text);
  if (json === null || json.hook_event_name !== 'PermissionRequest') return null;
  const { session_id, cwd, tool_name, tool_input, transcript_path } = json;
  const transcript = textOf(transcript_path);
  const request = { sessionId: textOf(session_id), cwd: textOf(cwd), toolName: textOf(tool_name) };
  if (request.cwd === '' || request.toolName === '') return null;
  return { ...request, transcript, input: objectOf(tool_input) };
}

/** Whether its answer is yes or no, as a person can give it elsewhere. */
export function isYesOrNo({ toolName }: HookRequest): boolean {
  return !terminalOnly.has(toolName);
}

/**
 * Composes the question about an action, as for the tools of jobs.
 *
 * @param secrets that are in no variable of the environment.
 */
export function askForHook(
  tool: HookTool,
  request: HookRequest,
  { env, secrets }: { env: NodeJS.ProcessEnv; secrets: readonly string[] },
): HookQuestion {
  const redactor = createRedactor(secrets);
  redactor.learn(env);
  const redact = (text: string) => redactor.redact(text);
  const { prompt, context } = askAboutAction(describeAction(callOf(request), request.cwd), [], {
    tool: hookToolNames[tool],
    share: 'command',
    redact,
    place: 'the folder of the session',
  });
  const clean = (text: string, bytesMax: number) => fitText(redact(text), bytesMax);
  return { prompt: clean(prompt, PROMPT_BYTES_MAX), context: clean(context, CONTEXT_BYTES_MAX) };
}

/** `mcp__server__tool` */
const mcpName = /^mcp__(.+?)__(.+)$/s;

function callOf({ toolName, input }: HookRequest): ToolCallState {
  const [, mcpServer = '', mcpTool = ''] = mcpName.exec(toolName) ?? [];
  const patch = toolName === 'apply_patch' ? textOf(input.command ?? input.patch) : '';
  const query = toolName === 'WebSearch' ? textOf(input.query) : '';
  return {
    toolCallId: '',
    kind: kinds[toolName] ?? 'other',
    toolName,
    mcpServer,
    rawInput: input,
    title: mcpServer === '' ? query || toolName : `${mcpTool} of ${mcpServer}`,
    content: patch === '' ? contentOf(input) : patchContent(patch),
    paths: [],
  };
}

/** The changes of Claude Code's tools. */
function contentOf({ file_path, content, edits, ...edit }: Record<string, unknown>) {
  const path = textOf(file_path);
  const all = Array.isArray(edits) ? edits.map(objectOf) : [edit];
  const changes = all.map(({ old_string, new_string }): ToolCallContent => {
    const newText = typeof content === 'string' ? content : textOf(new_string);
    return { type: 'diff', path, oldText: textOf(old_string), newText };
  });
  return path === '' ? [] : changes;
}

/** The files of a patch of Codex, each with its lines. */
function patchContent(patch: string): ToolCallContent[] {
  const parts = patch.split(/^\*\*\* (?:Add|Update|Delete) File: /m).slice(1);
  return parts.flatMap((part): ToolCallContent[] => {
    const [path = '', ...lines] = part.split('\n');
    const moved = lines.flatMap((line) => /^\*\*\* Move to: (.+)$/.exec(line)?.[1] ?? []);
    const textOfSide = (mark: string) =>
      lines.flatMap((line) => (line.startsWith(mark) ? [`${line.slice(1)}\n`] : [])).join('');
    const sides = { oldText: textOfSide('-'), newText: textOfSide('+') };
    return [path.trim(), ...moved].map((file) => ({ type: 'diff', path: file, ...sides }));
  });
}
