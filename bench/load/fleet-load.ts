import { AGENT_HEARTBEAT_INTERVAL_MS } from '@signalbox/contract';
import { summarizeLatency } from '../statistics.ts';
import { type Connection, openConnections } from './connection.ts';
import { FleetAgent, type FleetCall, fleetCalls, type NoteCall } from './fleet-agent.ts';
import { FleetWatcher } from './fleet-watcher.ts';
import { type AgentWorld, formatBeats, registerAll } from './hub-calls.ts';
import type { LoadReport } from './load-report.ts';
import { type Mark, Span, type SpanSpec } from './span.ts';
import { type Stream, sendStreams } from './streams.ts';

/** Agents that each hold a job and stream its output, and people who follow some of the jobs. */
export interface FleetLoad extends SpanSpec, AgentWorld {
  readonly kind: 'fleet';
  readonly watcherCount: number;
  /** Whether all watchers follow the same job. */
  readonly watchesOneJob: boolean;
  readonly outputIntervalMs: number;
}

const RENEW_INTERVAL_MS = 15_000;
/** The share of the agents that finish their job in a minute. */
const FINISHING_SHARE = 0.01;
const MINUTE_MS = 60_000;
/** Connections that prepare the fleet at once. */
const PREPARING_MAX = 64;

/** @throws Error on the first answer that is not 200, so that nothing refused is averaged in. */
export async function runFleetLoad(
  spec: FleetLoad,
  onMark: (mark: Mark) => void,
): Promise<LoadReport> {
  const failed = Promise.withResolvers<never>();
  // `watch` reports it; until then it must not count as unhandled.
  failed.promise.catch(() => undefined);
  const ledger = new Ledger();
  const { agents, connections } = await prepareAgents(spec, ledger.note);
  const report = { note: ledger.note, fail: failed.reject };
  const watchers = await openWatchers(spec, agents, report);
  const span = new Span(spec, onMark);
  ledger.span = span;
  const streams = streamsOf(spec, agents);
  await Promise.race([failed.promise, sendStreams(streams, span)]);
  const generatorCpuMs = await span.measureOwnCpuMs();
  for (const watcher of watchers) watcher.close();
  for (const connection of connections) connection.close();
  const seconds = spec.measureMs / 1_000;
  return {
    count: ledger.count,
    seconds,
    generatorCpuMs,
    latency: ledger.summarize(),
    totals: {
      outputsWanted: Math.round((streams[0]?.perSecond ?? 0) * seconds),
      outputs: ledger.countOf('output'),
      watcherReads: ledger.countOf('watch'),
    },
  };
}

/** The latencies of the calls that were due during the measurement and answered by its end. */
class Ledger {
  span: Span | null = null;
  readonly #tookMs = new Map<FleetCall, number[]>();

  readonly note: NoteCall = (call, dueMs) => {
    const nowMs = performance.now();
    if (!this.span?.holds(nowMs)) return;
    const known = this.#tookMs.get(call);
    if (known === undefined) this.#tookMs.set(call, [nowMs - dueMs]);
    else known.push(nowMs - dueMs);
  };

  countOf(call: FleetCall): number {
    return this.#tookMs.get(call)?.length ?? 0;
  }

  /** Calls of agents; what people read depends on it. */
  get count(): number {
    return fleetCalls.reduce((sum, call) => sum + (call === 'watch' ? 0 : this.countOf(call)), 0);
  }

  summarize() {
    const ofAgents = fleetCalls.flatMap((call) =>
      call === 'watch' ? [] : (this.#tookMs.get(call) ?? []),
    );
    const each = fleetCalls.map((call) => [call, summarizeLatency(this.#tookMs.get(call) ?? [])]);
    return { all: summarizeLatency(ofAgents), ...Object.fromEntries(each) };
  }
}

async function prepareAgents(
  spec: FleetLoad,
  note: NoteCall,
): Promise<{ agents: FleetAgent[]; connections: Connection[] }> {
  const { target, agentCount } = spec;
  const connections = await openConnections([target], agentCount);
  const beats = formatBeats(spec);
  const registered = await registerAll(spec, connections.slice(0, PREPARING_MAX), beats);
  const agents = registered.map((agent, at) => {
    const connection = connections[at];
    if (connection === undefined) throw new Error('an agent needs a connection');
    const own = { connection, target, heartbeat: beats[at] ?? '' };
    return new FleetAgent(spec, agent, own, note);
  });
  let next = 0;
  const begin = async () => {
    for (let agent = agents[next++]; agent !== undefined; agent = agents[next++]) {
      await agent.begin();
    }
  };
  await Promise.all(Array.from({ length: PREPARING_MAX }, begin));
  return { agents, connections };
}

async function openWatchers(
  { target, tokens, workspaceId, watcherCount, watchesOneJob }: FleetLoad,
  agents: readonly FleetAgent[],
  report: { note: NoteCall; fail: (error: Error) => void },
): Promise<FleetWatcher[]> {
  const connections = await openConnections([target], watcherCount);
  const watchers = connections.map((connection, at) => {
    const agent = agents[watchesOneJob ? 0 : at % agents.length];
    const token = tokens[at % tokens.length];
    if (agent === undefined || token === undefined) throw new Error('a watcher needs a job');
    const watched = { workspaceId, jobId: agent.jobId };
    return new FleetWatcher({ connection, target, token }, watched, report);
  });
  await Promise.all(watchers.map((watcher) => watcher.open()));
  return watchers;
}

/** Output first; the agents whose jobs are watched never finish. */
function streamsOf(spec: FleetLoad, agents: readonly FleetAgent[]): Stream[] {
  const everyMs = (intervalMs: number, act: (agent: FleetAgent, dueMs: number) => Promise<void>) =>
    streamOf(agents, (agents.length * 1_000) / intervalMs, act);
  const watchedCount = spec.watchesOneJob ? 1 : spec.watcherCount;
  const finishing = agents.slice(watchedCount);
  const finishesPerSecond = (finishing.length * FINISHING_SHARE * 1_000) / MINUTE_MS;
  return [
    everyMs(spec.outputIntervalMs, (agent, dueMs) => agent.output(dueMs)),
    everyMs(RENEW_INTERVAL_MS, (agent, dueMs) => agent.renew(dueMs)),
    everyMs(AGENT_HEARTBEAT_INTERVAL_MS, (agent, dueMs) => agent.heartbeat(dueMs)),
    streamOf(finishing, finishesPerSecond, (agent, dueMs) => agent.finish(dueMs)),
  ];
}

function streamOf(
  agents: readonly FleetAgent[],
  perSecond: number,
  act: (agent: FleetAgent, dueMs: number) => Promise<void>,
): Stream {
  const send = async (dueMs: number, number: number) => {
    const agent = agents[number % agents.length];
    if (agent !== undefined) await act(agent, dueMs);
  };
  return { perSecond, send };
}
