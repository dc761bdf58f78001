import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PermissionOption } from '@agentclientprotocol/sdk/unstable';
import { ACTION_CHARS_MAX, ACTION_WORDS_MAX, type AskedAction } from '@signalbox/contract';
import { cleanText } from '../../job/text-limits.ts';
import type { ConversationHost, Question, Reply } from '../conversation.ts';
import { splitWords } from '../permissions/shell-words.ts';
import type { ToolAction } from './tool-action.ts';

/**
 * The part of an action that a person sees, and so leaves the machine. `command`: the command line,
 * paths and counts of lines. `full` adds the content. `digest` sends the kind and a hash: the
 * person looks in the terminal of the agent.
 */
export type ShareApprovals = 'full' | 'command' | 'digest';

type Redact = ConversationHost['redact'];

const COMMAND_CHARS_MAX = 4_000;
const CONTENT_CHARS_MAX = 40_000;
const LABEL_CHARS_MAX = 200;
const PATHS_MAX = 50;

const verbs: Readonly<Record<string, string>> = {
  execute: 'run a command',
  edit: 'change files',
  delete: 'delete files',
  move: 'move files',
  read: 'read files',
  search: 'search',
  fetch: 'fetch from the network',
  switch_mode: 'follow its plan',
  mcp: 'use a tool of an MCP server',
};

interface AskMeans {
  tool: string;
  share: ShareApprovals;
  redact: Redact;
  /** Where an action is usual, in words. */
  place?: string;
}

/** Composes the question about an action. Titles come from here; what the tool wrote is quoted. */
export function askAboutAction(
  wholeAction: ToolAction,
  options: readonly PermissionOption[],
  { tool, share, redact, place = 'the job’s worktree' }: AskMeans,
): Question {
  // Before anything is cut: a part of a secret is not recognized.
  const action = withoutSecrets(wholeAction, redact);
  const verb = verbs[action.kind] ?? 'use a tool';
  return {
    actionKey: action.key,
    kind: 'approval',
    prompt: `${tool} asks to ${verb}${summaryOf(action, share)}`,
    context: contextOf(action, share, place),
    action: share === 'digest' ? null : comparableOf(wholeAction, action, options),
    options: options.map(({ optionId, name, kind }) => ({
      value: optionId,
      label: cut(
        redact(share === 'digest' ? (words[kind] ?? name) : name || optionId),
        LABEL_CHARS_MAX,
      ),
      description: scopes[kind] ?? 'The tool does not say how far this reaches.',
      meaning: kind,
    })),
  };
}

/**
 * An action in a form that rules compare; null if a text may mean more than this action. Contents
 * of files are no part of it: a rule is about the path.
 *
 * @param shown the same action without secrets. One that has a secret, or a character that the hub
 *   refuses, is like no other.
 */
function comparableOf(
  action: ToolAction,
  shown: ToolAction,
  options: readonly PermissionOption[],
): AskedAction | null {
  const words = wordsOf(action);
  if (words === null || !isDeepStrictEqual(words, wordsOf(shown)?.map(cleanText))) return null;
  const allow = allowOnce(options)?.optionId;
  const refusals = options.filter(({ kind }) => kind === 'reject_once');
  const refuse = refusals.length === 1 ? refusals[0]?.optionId : undefined;
  const comparable = {
    kind: action.kind,
    words,
    ...(allow !== undefined && { allow: cleanText(allow) }),
    ...(refuse !== undefined && { refuse: cleanText(refuse) }),
  };
  const isShort = JSON.stringify(comparable).length <= ACTION_CHARS_MAX;
  return isShort && words.length <= ACTION_WORDS_MAX ? comparable : null;
}

/** The words of a command that a shell runs as they are; else the whole line, path or address. */
function wordsOf({ kind, command, paths, url, isInside }: ToolAction): string[] | null {
  if (kind === 'execute') return command === '' ? null : (splitWords(command) ?? [command]);
  if (kind === 'fetch') return url === '' ? null : [url];
  const isOfFile = kind === 'edit' || kind === 'delete' || kind === 'read';
  const [path] = paths;
  return isOfFile && isInside && path !== undefined && paths.length === 1 ? [path] : null;
}

function withoutSecrets(action: ToolAction, redact: Redact): ToolAction {
  return {
    ...action,
    title: redact(action.title),
    command: redact(action.command),
    url: redact(action.url),
    paths: action.paths.map(redact),
    changes: action.changes.map((change) => ({
      ...change,
      path: redact(change.path),
      oldText: redact(change.oldText),
      newText: redact(change.newText),
    })),
  };
}

const words: Readonly<Record<string, string>> = {
  allow_once: 'Allow once',
  allow_always: 'Allow always',
  reject_once: 'Refuse',
  reject_always: 'Refuse always',
};

/** How far an option reaches, by its kind; the label is the tool's own. */
const scopes: Readonly<Record<string, string>> = {
  allow_once: 'Allows this action once.',
  allow_always: 'Allows more than this action: the label says what.',
  reject_once: 'Refuses this action.',
  reject_always: 'Refuses more than this action: the label says what.',
};

function summaryOf(action: ToolAction, share: ShareApprovals): string {
  if (share === 'digest') return '. The terminal of the agent shows it.';
  if (action.command !== '') return `: ${cut(action.command.split('\n')[0] ?? '', 300)}`;
  const [first] = action.paths;
  const more = action.paths.length - 1;
  if (first !== undefined) return `: ${cut(first, 300)}${more > 0 ? ` and ${more} more` : ''}`;
  if (action.url !== '') return `: ${cut(action.url, 300)}`;
  return action.title === '' ? '.' : `: ${cut(action.title, 300)}`;
}

function contextOf(action: ToolAction, share: ShareApprovals, place: string): string {
  if (share === 'digest') {
    const hash = createHash('sha256')
      .update(describe(action, place, true))
      .digest('hex');
    return `Action ${hash.slice(0, 16)} of kind ${action.kind}.`;
  }
  return describe(action, place, share === 'full');
}

function describe(action: ToolAction, place: string, isFull: boolean): string {
  const parts: string[] = [];
  if (action.command !== '') parts.push(`Command:\n${cut(action.command, COMMAND_CHARS_MAX)}`);
  const changed = new Map(action.changes.map((change) => [change.path, change]));
  const files = action.paths.slice(0, PATHS_MAX).map((path) => {
    const change = changed.get(path);
    return change === undefined ? path : `${path} (+${change.added} −${change.removed})`;
  });
  if (files.length > 0) parts.push(`Files:\n${files.join('\n')}`);
  if (action.url !== '') parts.push(`Address:\n${cut(action.url, COMMAND_CHARS_MAX)}`);
  if (!action.isInside) parts.push(`It reaches outside of ${place}.`);
  if (isFull) {
    for (const { path, oldText, newText } of action.changes) {
      parts.push(`Before, ${path}:\n${cut(oldText, CONTENT_CHARS_MAX)}`);
      parts.push(`After, ${path}:\n${cut(newText, CONTENT_CHARS_MAX)}`);
    }
  }
  return parts.join('\n\n');
}

export function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}

/** How a reply is given to the tool. */
export interface Choice {
  /** Null: the tool offers nothing that means it. */
  option: PermissionOption | null;
  /** Why the person refused, for the next prompt; '' when they gave no reason. */
  reason: string;
}

/**
 * Finds the option that a person has chosen, by its id. A tool that was restarted may offer fewer
 * options: then a wide permission counts as the narrow one of the same action. Words that name no
 * option are a refusal with that reason: only a choice allows something.
 */
export function chooseOption(
  { mode, value, meaning }: Pick<Reply, 'mode' | 'value' | 'meaning'>,
  offered: readonly PermissionOption[],
): Choice {
  const refusal = (reason: string): Choice => ({ option: refusalOf(offered), reason });
  if (mode !== 'answered') return refusal('');
  const exact = offered.find(({ optionId }) => optionId === value);
  if (exact !== undefined) return { option: exact, reason: '' };
  if (meaning === null) return refusal(value);
  if (meaning === 'allow_always') return { option: allowOnce(offered), reason: '' };
  return meaning.startsWith('reject') ? refusal('') : { option: null, reason: '' };
}

/** The one option that allows only this action; null without one, or with several. */
export function allowOnce(offered: readonly PermissionOption[]): PermissionOption | null {
  const once = offered.filter(({ kind }) => kind === 'allow_once');
  return once.length === 1 ? (once[0] ?? null) : null;
}

/** The narrowest option that refuses. */
export function refusalOf(offered: readonly PermissionOption[]): PermissionOption | null {
  return (
    offered.find(({ kind }) => kind === 'reject_once') ??
    offered.find(({ kind }) => kind === 'reject_always') ??
    null
  );
}
