import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { ListedUncertainty, Uncertainty } from '@signalbox/contract';
import { callConsole } from '../person.ts';
import { toolMissing } from './install-tool.ts';
import {
  type OwnSession,
  type Relay,
  relayLogin,
  skipFirstQuestions,
  startOwnSession,
} from './own-session.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { native, say, shell, type Turn } from './turns.ts';

type Tool = 'claude' | 'codex';
const tools: readonly Tool[] = ['claude', 'codex'];
/** The question of each tool at its terminal. */
const terminalAsks: Readonly<Record<Tool, RegExp>> = {
  claude: /Doyouwanttoproceed\?/,
  codex: /Wouldyouliketorunthefollowingcommand\?/,
};
const UNTIL_MS_MAX = 20_000;
/**
 * From the command of the model to the question at the terminal. The time of the hook itself is
 * measured in `packages/cli/test/hooks.test.ts`; a busy machine starts processes slowly.
 */
const PROMPT_MS_MAX = 10_000;

let bench: ToolBench;
let relay: Relay;

function commandTurn(tool: Tool, command: string): Turn {
  if (tool === 'claude') return shell(command);
  const input = { cmd: command, sandbox_permissions: 'require_escalated', justification: 'Test' };
  return native('exec_command', input);
}

let sessions = 0;
/** A session whose model runs one command that makes a file. */
async function begin(tool: Tool) {
  sessions += 1;
  const scenario = `own-${sessions}`;
  const file = `made-${sessions}.txt`;
  const path = join(bench.clone, file);
  bench.model.script({ [scenario]: [commandTurn(tool, `touch ${file}`), say('All done.')] });
  const session = await startOwnSession(bench, tool, `Make it. [scenario ${scenario}]`);
  await bench.model.untilCalls(scenario, 1);
  return { scenario, file, path, session, askedMs: performance.now() };
}

async function ask<Answer>(path: string, body: object): Promise<Answer> {
  const { baseUrl, cookie, workspaceId } = bench.person;
  const { answer } = await callConsole(baseUrl, path, { workspaceId, ...body }, cookie);
  return answer as Answer;
}

async function until<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
  const endMs = performance.now() + UNTIL_MS_MAX;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > endMs) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const listed = async (status: 'open' | 'resolved') =>
  (await ask<{ uncertainties: ListedUncertainty[] }>('uncertainties/list', { status }))
    .uncertainties;

const openQuestion = (file: string) =>
  until('the question is in the inbox', async () =>
    (await listed('open')).find(({ title }) => title.includes(file)),
  );

async function answer({ uncertaintyId }: { uncertaintyId: string }, value: string) {
  const body = { uncertaintyId, mode: 'answered', value, confidence: 1 };
  await ask('uncertainties/add-resolution', body);
}

/** The question, once it is withdrawn without a person. */
const withdrawn = (file: string) =>
  until('the question is withdrawn', async () => {
    const found = (await listed('resolved')).find(({ title }) => title.includes(file));
    if (found === undefined) return undefined;
    const { uncertainty } = await ask<{ uncertainty: Uncertainty }>('uncertainties/get', {
      uncertaintyId: found.uncertaintyId,
    });
    const { mode, createdBy } = uncertainty.resolution ?? {};
    assert.deepEqual([mode, createdBy], ['dismissed', null]);
    return uncertainty;
  });

/** The last request of the tool to its model, after the command. */
async function toldModel(scenario: string): Promise<string> {
  await bench.model.untilCalls(scenario, 2);
  return JSON.stringify(bench.model.requests.findLast((one) => one.scenario === scenario)?.body);
}

/** Allows the command at the terminal, which ignores keys for a moment after its question. */
async function allowAtTerminal(tool: Tool, session: OwnSession, path: string): Promise<void> {
  await until('the command has run', async () => {
    if (existsSync(path)) return true;
    session.type(tool === 'claude' ? '1' : 'y');
    await new Promise((resolve) => setTimeout(resolve, 200));
    return undefined;
  });
}

async function ending(session: OwnSession, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } finally {
    await session.end();
  }
}

suite("a person's own sessions", { skip: toolMissing('claude', 'codex') }, () => {
  before(async () => {
    bench = await startToolBench(tools);
    relay = await relayLogin(bench);
    skipFirstQuestions(bench);
    for (const tool of tools) {
      const installed = await bench.machine.run(['hook', 'install', tool]);
      assert.equal(installed.code, 0, installed.stderr);
    }
  });
  after(async () => {
    await relay?.close();
    await bench?.close();
  });

  afterEach(() => relay.set('pass'));

  for (const tool of tools) {
    test(`${tool}: an answer at the console allows the command`, async () => {
      const { file, path, session, scenario } = await begin(tool);
      await ending(session, async () => {
        const question = await openQuestion(file);
        const read = await ask<{ uncertainty: Uncertainty }>('uncertainties/get', question);
        const { kind, context, session: origin } = read.uncertainty;
        assert.equal(kind, 'approval');
        assert.equal(context, `Command:\ntouch ${file}`);
        assert.equal(origin?.tool, tool);
        assert.equal(existsSync(path), false);
        await answer(question, 'allow');
        await toldModel(scenario);
        assert.ok(existsSync(path), session.shown());
      });
    });

    test(`${tool}: a refusal in words reaches the model`, async () => {
      const { file, path, session, scenario } = await begin(tool);
      await ending(session, async () => {
        await answer(await openQuestion(file), 'Use make instead.');
        assert.match(await toldModel(scenario), /Ada Lovelace refused this: Use make instead\./);
        assert.equal(existsSync(path), false);
      });
    });

    test(`${tool}: without a hub, the terminal asks`, async () => {
      await relay.set('down');
      const { path, session, askedMs } = await begin(tool);
      await ending(session, async () => {
        const shownMs = await session.untilShown(terminalAsks[tool]);
        assert.ok(shownMs - askedMs < PROMPT_MS_MAX, `${Math.round(shownMs - askedMs)} ms`);
        assert.equal(existsSync(path), false);
        await allowAtTerminal(tool, session, path);
      });
    });

    test(`${tool}: a hub that answers later than a second is not waited for`, async () => {
      await relay.set('slow');
      const { file, path, session, askedMs } = await begin(tool);
      await ending(session, async () => {
        const shownMs = await session.untilShown(terminalAsks[tool]);
        assert.ok(shownMs - askedMs < PROMPT_MS_MAX, `${Math.round(shownMs - askedMs)} ms`);
        // The bytes of the hook arrive now, when it has given up.
        await relay.set('pass');
        assert.deepEqual(
          (await listed('open')).filter(({ title }) => title.includes(file)),
          [],
        );
        assert.equal(existsSync(path), false);
      });
    });

    test(`${tool}: a question is withdrawn when the tool is killed`, async () => {
      const { file, path, session } = await begin(tool);
      await ending(session, async () => {
        await openQuestion(file);
        process.kill(session.pid, 'SIGKILL');
        const { session: origin } = await withdrawn(file);
        assert.equal(origin?.tool, tool);
        assert.equal(existsSync(path), false);
      });
    });
  }

  test('claude: the terminal asks at the same time, and its answer withdraws the question', async () => {
    const { file, path, session } = await begin('claude');
    await ending(session, async () => {
      await openQuestion(file);
      await session.untilShown(terminalAsks.claude);
      await allowAtTerminal('claude', session, path);
      await withdrawn(file);
    });
  });

  test('codex: a turn that its person interrupts withdraws the question', async () => {
    const { file, path, session } = await begin('codex');
    await ending(session, async () => {
      await openQuestion(file);
      session.type('\u001b');
      await withdrawn(file);
      assert.equal(existsSync(path), false);
    });
  });
});
