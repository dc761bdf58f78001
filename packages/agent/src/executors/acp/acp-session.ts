import * as acp from '@agentclientprotocol/sdk/unstable';
import type { Clock } from '../../clock.ts';
import type { OfferedModels } from '../asked-tool.ts';
import { listOf, objectOf, textOf } from '../json-fields.ts';
import { type AcpConnection, isClosed } from './acp-connection.ts';

/** The settings of a session, from the job or the agent's configuration. */
export interface SessionSettings {
  model?: string | undefined;
  mode?: string | undefined;
  effort?: string | undefined;
}

/** The tool does not have a setting that was asked for; the message names what it has. */
export class SettingUnknownError extends Error {
  override name = 'SettingUnknownError';
}

export interface OpenedSession {
  sessionId: string;
  /** The tool knows the conversation so far. */
  isResumed: boolean;
  configOptions: unknown;
  /** The models to choose from, and the one before a choice; null if the tool does not tell. */
  offered: OfferedModels | null;
}

interface OpenOptions {
  connection: AcpConnection;
  cwd: string;
  /** A session of an earlier attempt; null: begin one. */
  knownId: string | null;
  /** The tool shows the conversation so far, if it can. */
  showsHistory: boolean;
  mcpServers: readonly acp.McpServer[];
  settings: SessionSettings;
  meta: Readonly<Record<string, unknown>> | undefined;
}

const { agent: methods } = acp.methods;

/**
 * Resumes the session of an earlier attempt, or begins one. A session that the tool does not know
 * any more is replaced by a new one.
 *
 * @throws {SettingUnknownError}
 */
export async function openSession(options: OpenOptions): Promise<OpenedSession> {
  const { connection, settings } = options;
  const opened = (await resume(options)) ?? (await begin(options));
  const { agent } = connection;
  let { configOptions } = opened;
  for (const [category, value] of settingsOf(settings)) {
    configOptions = await applySetting(agent, { ...opened, configOptions }, category, value);
  }
  return { ...opened, configOptions };
}

type Opened = OpenedSession & { modes: acp.SessionModeState | null };

async function resume(options: OpenOptions): Promise<Opened | null> {
  const { connection, knownId: sessionId } = options;
  if (sessionId === null) return null;
  const { agent, about } = connection;
  const { loadSession: canLoad = false, sessionCapabilities } = about.agentCapabilities ?? {};
  const body = { sessionId, ...placeOf(options) };
  try {
    if (sessionCapabilities?.resume && !(canLoad && options.showsHistory)) {
      return openedOf(sessionId, true, await agent.request(methods.session.resume, body));
    }
    if (canLoad) return openedOf(sessionId, true, await agent.request(methods.session.load, body));
  } catch (error) {
    // Its files may be gone, or of another version of the tool. A lost connection is no such case.
    if (!(error instanceof acp.RequestError)) throw error;
  }
  return null;
}

const STORED_LOOK_MS = 50;
const STORED_MS_MAX = 10_000;

/**
 * Waits until the tool lists its session, and so can resume it. A question that is open before that
 * would be one of a session that is lost with the process.
 */
export async function untilStored(
  { agent }: AcpConnection,
  { sessionId, cwd, clock }: { sessionId: string; cwd: string; clock: Clock },
): Promise<void> {
  const untilMs = clock.monotonicMs() + STORED_MS_MAX;
  while (clock.monotonicMs() < untilMs) {
    try {
      const answer: acp.ListSessionsResponse = await agent.request(methods.session.list, { cwd });
      if (answer.sessions.some((session) => session.sessionId === sessionId)) return;
    } catch (error) {
      // The tool cannot tell, or it has ended, which its exit says.
      if (error instanceof acp.RequestError || isClosed(error)) return;
      throw error;
    }
    await clock.sleep(STORED_LOOK_MS);
  }
}

function placeOf({ cwd, mcpServers, meta }: OpenOptions) {
  return { cwd, mcpServers: [...mcpServers], ...(meta === undefined ? {} : { _meta: meta }) };
}

async function begin(options: OpenOptions): Promise<Opened> {
  const { agent } = options.connection;
  const answer: acp.NewSessionResponse = await agent.request(methods.session.new, placeOf(options));
  return openedOf(answer.sessionId, false, answer);
}

function openedOf(
  sessionId: string,
  isResumed: boolean,
  answer: { modes?: acp.SessionModeState | null; configOptions?: unknown },
): Opened {
  const { modes = null, configOptions = [] } = answer;
  const offered = offeredBy(configOptions);
  return { sessionId, isResumed, modes, configOptions, offered };
}

function offeredBy(configOptions: unknown): OfferedModels | null {
  const option = findOption(configOptions, 'model');
  if (option === undefined) return null;
  const models = valuesOf(option.options).map(({ value }) => value);
  return { current: textOf(option.currentValue), models };
}

type Category = 'model' | 'mode' | 'thought_level';

function settingsOf({ model, mode, effort }: SessionSettings): [Category, string][] {
  const all: [Category, string | undefined][] = [
    ['model', model],
    ['mode', mode],
    ['thought_level', effort],
  ];
  return all.filter((one): one is [Category, string] => one[1] !== undefined);
}

const names: Record<Category, readonly string[]> = {
  model: ['model'],
  mode: ['mode'],
  thought_level: ['thought_level', 'effort', 'reasoning_effort'],
};

async function applySetting(
  agent: acp.ClientContext,
  { sessionId, modes, configOptions }: Opened,
  category: Category,
  value: string,
): Promise<unknown> {
  const option = findOption(configOptions, category);
  if (option !== undefined) {
    const offered = valuesOf(option.options);
    const chosen = offered.find((one) => one.value === value || one.name === value);
    const values = offered.map((one) => one.value);
    if (chosen === undefined) throw unknown(category, value, values);
    const body = { sessionId, configId: textOf(option.id), value: chosen.value };
    const answer: acp.SetSessionConfigOptionResponse = await agent.request(
      methods.session.setConfigOption,
      body,
    );
    return answer.configOptions;
  }
  if (category !== 'mode') throw unknown(category, value, []);
  const ids = (modes?.availableModes ?? []).map(({ id }) => id);
  if (!ids.includes(value)) throw unknown(category, value, ids);
  await agent.request(methods.session.setMode, { sessionId, modeId: value });
  return configOptions;
}

export function findOption(configOptions: unknown, category: Category) {
  return listOf(configOptions)
    .map(objectOf)
    .find(({ category: found, id }) =>
      names[category].some((name) => name === found || name === id),
    );
}

/** A select has a flat list of options, or groups of them. */
function valuesOf(options: unknown): { value: string; name: string }[] {
  return listOf(options)
    .map(objectOf)
    .flatMap((one) =>
      Array.isArray(one.options)
        ? valuesOf(one.options)
        : [{ value: textOf(one.value), name: textOf(one.name) }],
    );
}

function unknown(category: Category, value: string, offered: readonly string[]) {
  const what = category === 'thought_level' ? 'effort' : category;
  const choice = offered.length === 0 ? 'It offers none.' : `It offers ${offered.join(', ')}.`;
  return new SettingUnknownError(`The tool does not have the ${what} "${value}". ${choice}`);
}
