import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Usage } from '@signalbox/contract';
import { readToolFile, ToolFileError } from '../process/tool-file.ts';
import { countOf, objectOf, parseObject, textOf } from './json-fields.ts';

/** Codex's own record of a session, beside the events that it prints. */
export interface CodexSession {
  model?: string;
  usage?: Usage;
}

/** A session with many long outputs; a longer one is not read. */
const SESSION_BYTES_MAX = 64 * 1024 * 1024;
const sessionId = /^[0-9a-f-]{36}$/;

/**
 * Reads the model and the tokens from Codex's file of a session, below `CODEX_HOME`. Its events
 * name no model, and no tokens of a failed turn.
 */
export async function readCodexSession(id: string, env: NodeJS.ProcessEnv): Promise<CodexSession> {
  if (!sessionId.test(id)) return {};
  const home = env.CODEX_HOME || join(env.HOME ?? '', '.codex');
  const { folder, files } = await listFiles(join(home, 'sessions'));
  const file = files.find((each) => each.endsWith(`-${id}.jsonl`));
  if (file === undefined) return {};
  try {
    const bytes = await readToolFile(file, { below: folder, bytesMax: SESSION_BYTES_MAX });
    return readLines(bytes?.toString('utf8') ?? '');
  } catch (error) {
    // The tool could have put anything there; without the file, model and tokens stay unknown.
    if (error instanceof ToolFileError) return {};
    throw error;
  }
}

async function listFiles(sessions: string): Promise<{ folder: string; files: string[] }> {
  try {
    // The person may keep them elsewhere. Below, links to folders are not followed.
    const folder = await realpath(sessions);
    const found = await readdir(folder, { recursive: true, withFileTypes: true });
    return { folder, files: found.map(({ parentPath, name }) => join(parentPath, name)) };
  } catch {
    // Codex keeps no sessions there.
    return { folder: sessions, files: [] };
  }
}

function readLines(text: string): CodexSession {
  const session: CodexSession = {};
  for (const line of text.split('\n')) {
    if (!line.includes('"turn_context"') && !line.includes('"token_count"')) continue;
    const event = parseObject(line);
    const payload = objectOf(event?.payload);
    if (event?.type === 'turn_context') {
      const model = textOf(payload.model);
      if (model !== '') session.model = model;
    }
    if (payload.type !== 'token_count') continue;
    const total = objectOf(objectOf(payload.info).total_token_usage);
    const usage = {
      inputTokens: countOf(total.input_tokens),
      outputTokens: countOf(total.output_tokens),
      cachedInputTokens: countOf(total.cached_input_tokens),
    };
    if (usage.inputTokens + usage.outputTokens > 0) session.usage = usage;
  }
  return session;
}
