import * as acp from '@agentclientprotocol/sdk/unstable';
import type { Activity } from '@signalbox/contract';
import { untilAborted } from '../../clock.ts';
import {
  type KnownAnswer,
  type KnownMessage,
  PARK_GRACE_MS,
  type ToolProcess,
} from '../conversation.ts';
import { objectOf } from '../json-fields.ts';
import { messagesPrompt } from '../messages-prompt.ts';
import type { ToolFailure } from '../tool-failure.ts';
import { beginsAgain, resumedPrompt } from '../tool-prompt.ts';
import { type AcpConnection, connectTool } from './acp-connection.ts';
import { failureOf, failureOfTurn } from './acp-failure.ts';
import { currentModel } from './acp-messages.ts';
import { People } from './acp-people.ts';
import { openSession, untilStored } from './acp-session.ts';
import type { AcpTurn } from './acp-turn.ts';

export type AcpEnd =
  | { kind: 'done' }
  /** A person is asked, and has not answered for a while. */
  | { kind: 'parked'; summary: string }
  /** The work must stop; why is the reason of the host's signal. */
  | { kind: 'stopped' }
  | ({ kind: 'failed' | 'crashed' } & ToolFailure);

/** A tool that parks has so long to write its session down, before SIGTERM. */
const PARK_CANCEL_MS = 250;
/**
 * So long a tool may take to end its turn when the job is stopped, and to tell what it has used.
 */
const STOP_CANCEL_MS = 2_000;
/** A tool that is done may tidy up; its processes are ended after this time. */
const DONE_GRACE_MS = 2_000;
/** Prompts with reasons of people, so that a tool that keeps trying the same stops. */
const REFUSALS_MAX = 20;
const CRASH_RETRY_MS = 30_000;

/** Runs one process of the tool: from its start to the end of the job, a park, or a crash. */
export async function runAcpTool(turn: AcpTurn): Promise<AcpEnd> {
  const { host, agent } = turn;
  const tool = await host.startTool(agent);
  const parking = Promise.withResolvers<AcpEnd>();
  const park = (summary: string) => parking.resolve({ kind: 'parked', summary });
  const people = new People(turn, park);
  const ending = new AbortController();
  host.untilParked(ending.signal).then((summary) => {
    if (summary !== null) park(summary);
  }, parking.reject);
  let connection: AcpConnection | null = null;
  const history: string[] = [];
  const talk = async (): Promise<AcpEnd> => {
    connection = await connectTool(
      tool,
      { ...people.handlers, onUpdate: updates(turn, people, history) },
      agent,
    );
    return await work(turn, connection, people, history);
  };
  const ended = tool.exited.then((exit): AcpEnd => ({ kind: 'crashed', ...crashOf(tool, exit) }));
  const talked = talk().catch((error: unknown): AcpEnd | Promise<AcpEnd> => {
    const failure = failureOf(error, knownOf(turn));
    // A connection breaks because the tool ends: its exit says more.
    if (failure === null) return ended;
    return { kind: failure.code === 'tool_crashed' ? 'crashed' : 'failed', ...failure };
  });
  try {
    const stopped = untilAborted(host.signal).then((): AcpEnd => ({ kind: 'stopped' }));
    const end = await Promise.race([talked, parking.promise, ended, stopped]);
    const isCut = end.kind === 'parked' || end.kind === 'stopped';
    if (isCut && connection !== null) {
      const waitMs = end.kind === 'parked' ? PARK_CANCEL_MS : STOP_CANCEL_MS;
      await cancelTurn(turn, connection, Promise.race([talked, ended]), waitMs);
    }
    people.stop();
    await tool.stop(end.kind === 'parked' ? PARK_GRACE_MS : DONE_GRACE_MS);
    await people.settled();
    host.signal.throwIfAborted();
    return end;
  } finally {
    ending.abort();
    people.stop();
    await tool.stop(DONE_GRACE_MS);
  }
}

/** Ends the turn in the tool's own way, so that it writes its session down and tells its usage. */
async function cancelTurn(
  { host }: AcpTurn,
  { agent }: AcpConnection,
  talked: Promise<AcpEnd>,
  waitMs: number,
): Promise<void> {
  const { sessionId } = host.session;
  if (sessionId === null) return;
  await agent.notify(acp.methods.agent.session.cancel, { sessionId });
  await Promise.race([talked, host.clock.sleep(waitMs)]);
}

/** Messages become text of the timeline in the order in which they came. */
function updates({ reader, host }: AcpTurn, people: People, history: string[]) {
  return ({ update, sessionId }: acp.SessionNotification) => {
    // Sub-agents may have their own sessions.
    if (sessionId !== host.session.sessionId) return;
    // While a session is loaded, its history comes again.
    if (!people.isListening) {
      if (update.sessionUpdate === 'user_message_chunk' && update.content.type === 'text') {
        history.push(update.content.text);
      }
      return;
    }
    const { parts, progress, usedToolCallId, ended } = reader.read(update);
    if (update.sessionUpdate === 'usage_update') noteUsage(reader, host);
    if (isOfModel(update)) {
      host.onModelAnswer();
      people.later(() => host.messages.received());
    }
    if (usedToolCallId !== undefined) people.onToolCallUsed(usedToolCallId);
    if (ended !== undefined) people.onToolCallEnded(ended);
    if (progress !== undefined) host.report(progress);
    if (parts.length > 0) people.later(() => host.log(parts));
  };
}

function noteUsage(reader: AcpTurn['reader'], host: AcpTurn['host']): void {
  const usage = reader.usage();
  if (usage !== undefined) host.onUsage(usage);
  // Its file is written in order, and errors of the disk are met by the next write that is awaited.
  if (reader.sessionCostUsd() !== host.session.costUsd) {
    host.session.keepCost(reader.sessionCostUsd()).catch(() => {});
  }
}

/** Only a model thinks and calls tools. Messages may be the adapter's own, such as its errors. */
function isOfModel({ sessionUpdate }: acp.SessionUpdate): boolean {
  return sessionUpdate === 'tool_call' || sessionUpdate === 'agent_thought_chunk';
}

function knownOf({ agent, reader, host }: AcpTurn) {
  return { agent, limit: reader.limit(), nowMs: host.clock.nowMs() };
}

/** @param history gets the earlier prompts of a session that is loaded. */
async function work(
  turn: AcpTurn,
  connection: AcpConnection,
  people: People,
  history: readonly string[],
): Promise<AcpEnd> {
  const { host, reader } = turn;
  const { agentInfo } = connection.about;
  if (agentInfo) turn.about = { name: agentInfo.name, version: agentInfo.version };
  const session = await openSession({
    connection,
    settings: turn.settings,
    mcpServers: turn.mcpServers,
    cwd: turn.agent.cwdOf?.(host.cwd) ?? host.cwd,
    knownId: host.session.sessionId,
    showsHistory: host.session.messages.sent.length > 0,
    meta: metaOf(turn),
  });
  const { sessionId, isResumed } = session;
  if (session.offered !== null) turn.onModels(session.offered);
  if (!isResumed) await noteLoss(host);
  await host.session.keepSessionId(sessionId);
  const model = currentModel(session.configOptions);
  const words = [isResumed ? 'resumed session' : 'session', sessionId, ...(model ? [model] : [])];
  await host.log([{ text: `[${words.join(' ')}]\n`, activity: sessionOf(turn, model) }]);
  reader.read({
    sessionUpdate: 'config_option_update',
    configOptions: (session.configOptions ?? []) as acp.SessionConfigOption[],
  });
  people.listen(async () => {
    if (!turn.agent.storesLate) return;
    await untilStored(connection, { sessionId, cwd: host.cwd, clock: host.clock });
  });
  const answers = host.session.newAnswers();
  const shown = history.length === 0 ? null : history.join('');
  let messages = await host.messages.begin({ isResumed, shown });
  let text = firstPrompt(turn, isResumed, answers);
  if (messages.length > 0) text = `${text}\n${messagesPrompt(host.job.jobId, messages)}`;
  for (let refusals = 1; ; ) {
    await host.messages.sending(messages);
    const prompt: acp.ContentBlock[] = [{ type: 'text', text }];
    const response = connection.agent.request(acp.methods.agent.session.prompt, {
      sessionId,
      prompt,
    });
    // From here on the tool knows them; they are also in the session that a restart resumes.
    await host.session.keepTold(answers);
    const { stopReason, ...rest } = await response;
    const used = reader.readTurn({ stopReason, ...rest });
    noteUsage(reader, host);
    people.later(() => host.log(used));
    await people.onTurnEnd();
    const failure = failureOfTurn(rest._meta, knownOf(turn));
    if (failure !== null) return { kind: 'failed', ...failure };
    host.onModelAnswer();
    await host.messages.received();
    const reasons = people.takeReasons();
    if (reasons.length > 0 && refusals < REFUSALS_MAX) {
      refusals += 1;
      messages = [];
      text = reasonsPrompt(reasons);
      continue;
    }
    messages = stopReason === 'end_turn' ? await host.messages.next() : [];
    if (messages.length === 0) return endOf(stopReason, people);
    await host.note(`signalbox: the tool gets ${numbersOf(messages)} of people.`);
    text = messagesPrompt(host.job.jobId, messages);
  }
}

function numbersOf(messages: readonly KnownMessage[]): string {
  const numbers = messages.map(({ number }) => number).join(', ');
  return messages.length === 1 ? `message ${numbers}` : `messages ${numbers}`;
}

function firstPrompt(turn: AcpTurn, isResumed: boolean, answers: readonly KnownAnswer[]): string {
  if (!isResumed) return turn.promptText;
  return turn.host.session.isPromptTold ? resumedPrompt(answers) : turn.nextPromptText;
}

/** The rest of the budget is the limit of this process of the tool. */
function metaOf({ agent, host, reader }: AcpTurn): AcpTurn['agent']['sessionMeta'] {
  const { sessionMeta, costLimit } = agent;
  if (costLimit !== 'session' || host.budgetUsd === null) return sessionMeta;
  const claudeCode = objectOf(sessionMeta?.claudeCode);
  const maxBudgetUsd = host.budgetUsd - (reader.usage()?.costUsd ?? 0);
  const options = { ...objectOf(claudeCode.options), maxBudgetUsd };
  return { ...sessionMeta, claudeCode: { ...claudeCode, options } };
}

function sessionOf({ host, about }: AcpTurn, model: string): Activity {
  const tool = about === null ? {} : { tool: `${about.name} ${about.version}`.trim() };
  const sessionId = host.session.sessionId ?? '';
  return { session: { sessionId, ...tool, ...(model === '' ? {} : { model }) } };
}

/** Tells people that the work of an earlier attempt is not continued. */
async function noteLoss({ session, job, note }: AcpTurn['host']): Promise<void> {
  const { sessionId } = session;
  if (sessionId !== null) await note(beginsAgain(`the tool could not resume session ${sessionId}`));
  else if (job.decisions.length > 0)
    await note(beginsAgain('this machine has no session of this job'));
}

function endOf(stopReason: acp.StopReason, people: People): AcpEnd {
  const failed = (code: ToolFailure['code'], summary: string): AcpEnd => ({
    kind: 'failed',
    code,
    summary,
  });
  switch (stopReason) {
    case 'end_turn':
      return { kind: 'done' };
    case 'refusal':
      return failed('refused', 'The model refused to work on this.');
    case 'max_tokens':
      return failed('output_limit', 'The model reached its limit of output before it was done.');
    case 'max_turn_requests':
      return failed('max_turns', 'The tool reached its limit of model calls before it was done.');
    case 'cancelled':
      return people.hasRefused
        ? failed('permission_refused', 'A permission was refused, and the tool ended its work.')
        : failed('turn_canceled', 'The tool canceled its work by itself.');
    default:
      return failed('stop_reason_unknown', `The tool stopped for a reason unknown: ${stopReason}.`);
  }
}

function reasonsPrompt(reasons: readonly string[]): string {
  return [
    'Signalbox: a person refused an action of yours, and says:',
    ...reasons.map((reason) => `- ${reason}`),
    'Take that into account, do not try the same again, and continue the job.',
  ].join('\n');
}

function crashOf(tool: ToolProcess, exit: { code: number | null; signal: string | null }) {
  const how = exit.code === null ? `was killed by ${exit.signal}` : `exited with ${exit.code}`;
  const words = tool.lastWords().split('\n').at(-1) ?? '';
  const summary = `The tool ${how} before it was done.${words === '' ? '' : ` ${words}`}`;
  return { code: 'tool_crashed', summary, retryMs: CRASH_RETRY_MS } as const;
}
