/**
 * A scripted coding tool that speaks the Agent Client Protocol. The first line of the task in its
 * prompt is its script: steps separated by `;`. Its sessions are files, so it can be killed and
 * resumed; then it asks again for what it had not done, as real tools do.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import * as acp from '@agentclientprotocol/sdk/unstable';
import { askPerson, openJobContext } from '../../src/mcp/job-tools.ts';

interface Session {
  cwd: string;
  steps: string[];
  prompts: string[];
}

const place = process.env.ACP_SCRIPT_DIR ?? '';
const { client } = acp.methods;
const cancelled = new Set<string>();
const HOLD_LOOK_MS = 20;
let calls = 0;
let lists = 0;
mkdirSync(place, { recursive: true });
note(`tool ${process.pid}`);
// As real tools do: without its client it does nothing more.
process.stdin.once('end', () => process.exit(0));

/** Waits while the test keeps a file of this name. */
async function held(name: string): Promise<void> {
  while (existsSync(join(place, name))) await setTimeout(HOLD_LOOK_MS);
}

function stepsOf(script: string): string[] {
  return script.split(';').map((step) => step.trim());
}

function note(line: string): void {
  appendFileSync(join(place, 'log'), `${line}\n`);
}

function fileOf(sessionId: string): string {
  return join(place, `${sessionId}.json`);
}

function read(sessionId: string): Session {
  return JSON.parse(readFileSync(fileOf(sessionId), 'utf8'));
}

function write(sessionId: string, session: Session): void {
  writeFileSync(fileOf(sessionId), JSON.stringify(session));
}

const options: acp.PermissionOption[] = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'yes-all', name: 'Yes, and do not ask again', kind: 'allow_always' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

const modes = { currentModeId: 'auto', availableModes: [{ id: 'default', name: 'Manual' }] };

type Peer = acp.AgentContext;
type Update = acp.SessionUpdate;

async function tell(peer: Peer, sessionId: string, update: Update): Promise<void> {
  await peer.notify(client.session.update, { sessionId, update });
}

async function say(peer: Peer, sessionId: string, text: string): Promise<void> {
  const content = { type: 'text', text } as const;
  await tell(peer, sessionId, { sessionUpdate: 'agent_message_chunk', content });
}

interface Act {
  title: string;
  kind: acp.ToolKind;
  rawInput: Record<string, unknown>;
  content?: acp.ToolCallContent[];
  run(): string;
}

/** Asks, and acts only when it is allowed. @returns false when the turn is canceled. */
async function act(peer: Peer, sessionId: string, one: Act): Promise<boolean> {
  calls += 1;
  const toolCallId = `call-${process.pid}-${calls}`;
  const { title, kind, rawInput, content = [] } = one;
  const toolCall = { toolCallId, title, kind, rawInput, content };
  await tell(peer, sessionId, { sessionUpdate: 'tool_call', status: 'pending', ...toolCall });
  note(`asks ${title}`);
  const { outcome }: acp.RequestPermissionResponse = await peer.request(
    client.session.requestPermission,
    {
      sessionId,
      toolCall,
      options,
    },
  );
  if (outcome.outcome === 'cancelled') return false;
  note(`gets ${outcome.optionId} for ${title}`);
  // A test holds the tool here: it has the answer, and has not acted.
  await held('hold');
  const isAllowed = outcome.optionId !== 'no';
  const text = isAllowed ? one.run() : 'refused';
  // Or here: it has acted, and has not said so.
  await held('hold-acted');
  await tell(peer, sessionId, {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: isAllowed ? 'completed' : 'failed',
    content: [{ type: 'content', content: { type: 'text', text } }],
  });
  return true;
}

/** Acts, or refuses to, as a mode or a rule of the tool says. */
async function actUnasked(
  peer: Peer,
  sessionId: string,
  { title, kind, rawInput, run }: Act,
  status: 'completed' | 'failed',
): Promise<null> {
  calls += 1;
  const toolCallId = `call-${process.pid}-${calls}`;
  const call = { toolCallId, title, kind, rawInput };
  await tell(peer, sessionId, { sessionUpdate: 'tool_call', status: 'pending', ...call });
  note(`begins ${title}`);
  await held(`hold ${title}`);
  const text = status === 'completed' ? run() : 'Permission denied: Classifier unavailable';
  const content: acp.ToolCallContent[] = [{ type: 'content', content: { type: 'text', text } }];
  await tell(peer, sessionId, {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status,
    content,
  });
  return null;
}

function command(line: string): Act {
  return {
    title: line,
    kind: 'execute',
    rawInput: { command: line, call_id: `${Math.random()}` },
    run() {
      note(`ran ${line}`);
      return `output of ${line}`;
    },
  };
}

function edit(cwd: string, name: string): Act {
  const path = join(cwd, name);
  const newText = 'written by the tool\n';
  return {
    title: `Write ${path}`,
    kind: 'edit',
    rawInput: { file_path: path },
    content: [{ type: 'diff', path, oldText: null, newText }],
    run() {
      writeFileSync(path, newText);
      return 'written';
    },
  };
}

async function form(peer: Peer, sessionId: string): Promise<boolean> {
  const answer = await peer.request(client.elicitation.create, {
    sessionId,
    mode: 'form',
    message: 'Which database?',
    requestedSchema: {
      type: 'object',
      properties: {
        question_0: {
          type: 'string',
          title: 'Database',
          oneOf: [
            { const: 'SQLite', title: 'SQLite' },
            { const: 'PostgreSQL', title: 'PostgreSQL' },
          ],
        },
        question_0_custom: { type: 'string', title: 'Other' },
      },
    },
  });
  note(`form ${JSON.stringify(answer)}`);
  return answer.action !== 'cancel';
}

/** Runs the program of the test without asking, as a tool may that has no sandbox. */
function feed(cwd: string, input: string): string {
  const program = process.env.ACP_SCRIPT_PROGRAM ?? '';
  const { stdout, stderr } = spawnSync(program, { cwd, input, encoding: 'utf8' });
  return `${stdout}${stderr}`;
}

/** Asks by the job's own server. A tool that has no answer does not end its turn by itself. */
async function askJobServer(question: string): Promise<null> {
  const context = openJobContext(process.env);
  const { signal } = new AbortController();
  const answer = await askPerson(context, { question }, { waitMs: context.holdMs, signal });
  note(`asked ${question}: ${answer.answer ?? answer.status}`);
  if (answer.status === 'waiting') await hang();
  return null;
}

function hang(): Promise<never> {
  return new Promise(() => setInterval(() => {}, 1_000));
}

/** @returns the stop reason when the turn ends with this step; null to go to the next. */
async function perform(
  peer: Peer,
  sessionId: string,
  cwd: string,
  step: string,
): Promise<acp.StopReason | null> {
  const [verb = '', ...words] = step.split(' ');
  const rest = words.join(' ');
  switch (verb) {
    case 'run':
      return (await act(peer, sessionId, command(rest))) ? null : 'cancelled';
    case 'both': {
      const both = await Promise.all([
        act(peer, sessionId, command(`${rest} one`)),
        act(peer, sessionId, command(`${rest} two`)),
      ]);
      return both.every(Boolean) ? null : 'cancelled';
    }
    case 'sneak':
      return await actUnasked(peer, sessionId, command(rest), 'completed');
    case 'forbid':
      return await actUnasked(peer, sessionId, command(rest), 'failed');
    case 'write':
      return (await act(peer, sessionId, edit(cwd, rest))) ? null : 'cancelled';
    case 'form':
      return (await form(peer, sessionId)) ? null : 'cancelled';
    case 'ask':
      return await askJobServer(rest);
    case 'feed':
      await say(peer, sessionId, feed(cwd, rest));
      return null;
    case 'say':
      await say(peer, sessionId, rest);
      return null;
    case 'plan':
      await tell(peer, sessionId, {
        sessionUpdate: 'plan',
        entries: [{ content: rest, priority: 'high', status: 'in_progress' }],
      });
      return null;
    case 'huge':
      for (let i = 0; i < 50; i++) await say(peer, sessionId, `${'x'.repeat(100_000)}\n`);
      return null;
    case 'garbage':
      process.stdout.write('this is no JSON\n');
      return null;
    case 'crash':
      process.stderr.write('out of luck\n');
      process.exit(7);
      break;
    case 'hang':
      await hang();
      break;
    case 'stop':
      return rest as acp.StopReason;
    case 'fail':
      throw acp.RequestError.internalError({ details: rest });
  }
  return null;
}

acp
  .agent({ name: 'scripted' })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: process.env.ACP_SCRIPT_VERSION === undefined ? 1 : 99,
    agentInfo: { name: 'scripted', version: '1.2.3' },
    agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {}, list: {} } },
  }))
  .onRequest(acp.methods.agent.session.new, ({ params }) => {
    if (process.env.ACP_SCRIPT_LOGIN !== undefined) throw acp.RequestError.authRequired();
    const sessionId = `session-${process.pid}`;
    write(sessionId, { cwd: params.cwd, steps: [], prompts: [] });
    note(`new ${sessionId} in ${params.cwd} with ${params.mcpServers.length} servers`);
    const model = { id: 'model', name: 'Model', type: 'select', category: 'model' } as const;
    const choice = { currentValue: 'small', options: [{ value: 'small', name: 'Small' }] };
    return { sessionId, configOptions: [{ ...model, ...choice }], modes };
  })
  .onRequest(acp.methods.agent.session.setConfigOption, ({ params }) => {
    note(`sets ${params.configId} ${params.value}`);
    return { configOptions: [] };
  })
  .onRequest(acp.methods.agent.session.setMode, ({ params }) => {
    note(`mode ${params.modeId}`);
    return {};
  })
  // A test decides when its sessions are on disk.
  .onRequest(acp.methods.agent.session.list, ({ params }) => {
    lists += 1;
    note(`lists ${lists}`);
    const sessionId = `session-${process.pid}`;
    const cwd = params.cwd ?? '';
    return { sessions: existsSync(join(place, 'stored')) ? [{ sessionId, cwd }] : [] };
  })
  .onRequest(acp.methods.agent.session.load, async ({ params, client: peer }) => {
    const { sessionId } = params;
    const { steps, prompts } = read(sessionId);
    note(`loads ${sessionId} at ${steps[0] ?? 'the end'}`);
    const isShown = process.env.ACP_SCRIPT_SHOWS_NOTHING === undefined;
    for (const text of isShown ? prompts : []) {
      const content = { type: 'text', text } as const;
      await tell(peer, sessionId, { sessionUpdate: 'user_message_chunk', content });
    }
    return { modes };
  })
  .onRequest(acp.methods.agent.session.resume, ({ params }) => {
    const { steps } = read(params.sessionId);
    note(`resume ${params.sessionId} in ${params.cwd} at ${steps[0] ?? 'the end'}`);
    return { modes };
  })
  .onNotification(acp.methods.agent.session.cancel, ({ params }) => {
    cancelled.add(params.sessionId);
  })
  .onRequest(acp.methods.agent.session.prompt, async ({ params, client: peer }) => {
    const { sessionId, prompt } = params;
    const text = prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
    note(`receives ${JSON.stringify(text)}`);
    await held('hold-received');
    const session = read(sessionId);
    // A round that continues the session has another task.
    const [, script] = /^Your task:\n\n(.*)\n/.exec(text) ?? [];
    if (script !== undefined || session.prompts.length === 0) {
      session.steps = stepsOf(script ?? '');
    }
    const messages = text.matchAll(/^(Message \d+ to \S+:)\n(\(.*\)\n)?\n(.*)$/gm);
    for (const [, mark = '', hint, more = ''] of messages) {
      const isKnown = hint !== undefined && session.prompts.some((one) => one.includes(mark));
      if (!isKnown) session.steps.push(...stepsOf(more));
    }
    session.prompts.push(text);
    write(sessionId, session);
    note(`prompt ${JSON.stringify(text)}`);
    await held('hold-stored');
    const usage = { totalTokens: 1_100, inputTokens: 1_000, outputTokens: 100 };
    for (;;) {
      const [step] = session.steps;
      if (step === undefined) return { stopReason: 'end_turn' as const, usage };
      const stopReason = await perform(peer, sessionId, session.cwd, step);
      if (stopReason === 'cancelled') return { stopReason, usage };
      session.steps.shift();
      write(sessionId, session);
      if (stopReason !== null) return { stopReason, usage };
    }
  })
  .connect(
    acp.ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  );
