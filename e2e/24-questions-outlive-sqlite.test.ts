import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { StartedProcess } from '../scripts/process/start-process.ts';
import { browserMissing, launchBrowser, openVisit } from './browser.ts';
import { configFlag, createMachine, logIn, type Machine, runJson } from './cli-process.ts';
import { git, makeClone } from './git-clone.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { callConsole, lendSession, makeOwner, owner, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';
import { toolMissing } from './tools/install-tool.ts';
import { type RecordingProxy, startRecordingProxy } from './tools/recording-proxy.ts';
import { type ScriptedModel, startScriptedModel } from './tools/scripted-model.ts';
import { type JobAnswer, logOf } from './tools/tool-bench.ts';
import { makeToolPlace } from './tools/tool-place.ts';
import { hang, native, say, type Turn, use, write } from './tools/turns.ts';

const originUrl = 'git@git.acme.example:acme/api.git';
const commandOf = (tool: 'claude' | 'codex') => `touch made-by-${tool}.txt`;
/** An action in the words of each tool; no rule of the agent or of the tool allows it. */
const asksToRun = {
  claude: native('Bash', { command: commandOf('claude'), description: 'Makes a file' }),
  codex: native('exec_command', {
    cmd: commandOf('codex'),
    sandbox_permissions: 'require_escalated',
    justification: 'May I make a file?',
  }),
} as const satisfies Record<string, Turn>;
const asksPerson = use({
  tool: 'native',
  namespace: 'mcp__signalbox',
  name: 'ask_person',
  input: { question: 'Which port?', options: ['8080', '9443'] },
});
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
const LIMIT_MS = 180_000;

/** A machine with one tool, its own clone and its own agent. */
interface Place {
  readonly tool: 'claude' | 'codex';
  readonly machine: Machine;
  readonly clone: string;
  agent?: StartedProcess;
  jobId: string;
}

/*
 * Two machines with a clone of one repository: Claude Code and Codex ask for a permission. Both are
 * parked. The hub and one agent are killed. A person answers one question on a phone and the other
 * in a terminal. Codex then asks by ask_person, is parked again, and both jobs end verified.
 */
describe('questions outlive the hub and the agent, with the real Claude Code and Codex', {
  skip: browserMissing || toolMissing('claude', 'claude-acp', 'codex', 'codex-acp'),
}, () => {
  let hub: HubProcess;
  let person: SignedIn;
  let model: ScriptedModel;
  let proxy: RecordingProxy;
  let browser: Browser | undefined;
  let claude: Place;
  let codex: Place;

  before(async () => {
    [model, proxy, hub] = await Promise.all([
      startScriptedModel(),
      startRecordingProxy(),
      startHubProcess({ dataDir: join(folder, 'data') }),
    ]);
    person = await makeOwner(hub);
    const first = join(folder, 'claude', 'clone');
    makeClone(first, originUrl);
    addChecks(first);
    claude = await openPlace('claude', first);
    const second = join(folder, 'codex', 'clone');
    git(folder, 'clone', '--quiet', first, second);
    git(second, 'remote', 'set-url', 'origin', originUrl);
    codex = await openPlace('codex', second);
  });
  after(async () => {
    for (const place of [claude, codex]) place?.agent?.child.kill('SIGQUIT');
    await Promise.all([claude?.agent?.ended, codex?.agent?.ended]);
    await browser?.close();
    await Promise.all([hub?.stop(), model?.close(), proxy?.close()]);
  });
  const folder = makeTempDir({ after });

  async function openPlace(tool: Place['tool'], clone: string): Promise<Place> {
    const own = join(folder, tool);
    const tools = [tool, `${tool}-acp`] as const;
    const place = { folder: own, tools, modelUrl: model.baseUrl, proxyEnv: proxy.env };
    const machine = createMachine(own, makeToolPlace(place).env);
    await logIn(machine, person, owner.workspaceSlug);
    await runJson(machine, ['repo', 'link', clone]);
    return { tool, machine, clone, jobId: '' };
  }

  async function startAgent(place: Place): Promise<void> {
    const { tool } = place;
    const line = ['agent', 'start', '--json', '--name', tool, '--label', `tool=${tool}`];
    const settings = { hold: '2s', lease: '5s', 'repository-checks': true };
    line.push('--tool', tool, ...configFlag(folder, settings));
    place.agent = place.machine.start(line);
    await place.agent.waitFor(/"type":"online"/, LIMIT_MS);
  }

  async function enqueue(place: Place, turns: readonly Turn[]): Promise<void> {
    const { tool, machine, clone } = place;
    model.script({ [tool]: turns });
    const requirements = JSON.stringify({ labels: { tool } });
    const prompt = `Work as ${tool}.\n\n[scenario ${tool}]`;
    const line = ['enqueue', prompt, '--requirements', requirements];
    place.jobId = (await runJson<{ jobId: string }>(machine, line, clone)).jobId;
  }

  function read({ machine, jobId }: Place): Promise<JobAnswer> {
    return runJson<JobAnswer>(machine, ['job', jobId, '--events', '1000']);
  }

  async function ends(place: Place, attempt: number, status: string): Promise<JobAnswer> {
    const result = new RegExp(`"type":"job-finished".*"attempt":${attempt},`);
    await place.agent?.waitFor(result, LIMIT_MS).catch((error: unknown) => {
      // The tool's last words to its model tell what a call of it was answered.
      const last = JSON.stringify(model.requests.at(-1)?.body ?? null).slice(-3_000);
      throw new Error(`The job has not ended. The model was last told: …${last}`, { cause: error });
    });
    await place.agent?.waitFor(new RegExp(`"type":"result-accepted".*"${status}"`), LIMIT_MS);
    const answer = await read(place);
    assert.equal(answer.job.status, status, logOf(answer));
    return answer;
  }

  async function listQuestions({ jobId }: Place, status?: 'open'): Promise<Asked[]> {
    const { workspaceId, cookie } = person;
    const body = { workspaceId, jobId, ...(status === undefined ? {} : { status }) };
    const { answer } = await callConsole(hub.baseUrl, 'uncertainties/list', body, cookie);
    return answer.uncertainties as Asked[];
  }

  /** The open question of a parked job, which is one. */
  async function readQuestion(place: Place): Promise<Asked> {
    const [question, ...others] = await listQuestions(place, 'open');
    assert.ok(question);
    assert.deepEqual(others, []);
    return question;
  }

  /** The open question of a job that asks to run a command, and the option that allows it once. */
  async function readPermission(place: Place) {
    const { tool } = place;
    const question = await readQuestion(place);
    assert.equal(question.kind, 'approval');
    assert.equal(question.prompt, `${tool} asks to run a command: ${commandOf(tool)}`);
    const once = question.options.find(({ description }) => /this action once/.test(description));
    assert.ok(once, JSON.stringify(question));
    return { question, once };
  }

  it('parks both jobs: their slots are free, and their tools have ended', async () => {
    await Promise.all([startAgent(claude), startAgent(codex)]);
    // A model that continues to think, although it was told to end its turn.
    await enqueue(claude, [asksToRun.claude, hang()]);
    await enqueue(codex, [asksToRun.codex, hang()]);
    for (const place of [claude, codex]) {
      await ends(place, 1, 'blocked');
      assert.deepEqual(processesOf(place), []);
    }
  });

  it('survives that the hub and an agent are killed', async () => {
    hub.child.kill('SIGKILL');
    claude.agent?.child.kill('SIGKILL');
    await Promise.all([hub.process.ended, claude.agent?.ended]);
    const port = Number(new URL(hub.baseUrl).port);
    hub = await startHubProcess({ dataDir: join(folder, 'data'), port });
    await startAgent(claude);
  });

  it('continues Claude Code with the permission that a person gives on a phone', async () => {
    model.script({ claude: [asksToRun.claude, say('The file is there.')] });
    browser = await launchBrowser();
    const visit = await openVisit(browser, hub.baseUrl, phone);
    await lendSession(visit.context, person);
    const page = await visit.context.newPage();
    const { once } = await readPermission(claude);
    await page.goto(`/w/${owner.workspaceSlug}/inbox`);
    await page.getByRole('link', { name: new RegExp(commandOf('claude')) }).tap();
    await page.getByRole('radio', { name: once.label, exact: true }).tap();
    await page.getByRole('button', { name: `Answer “${once.label}”` }).tap();
    await page.getByText('You answered').waitFor();
    assert.deepEqual(visit.troubles, []);
    await checkResult(claude, { attempt: 2, files: ['made-by-claude.txt'], questions: 1 });
  });

  it('continues Codex with the permission given in a terminal, and parks its next question', async () => {
    model.script({ codex: [asksToRun.codex, asksPerson, hang()] });
    const { question, once } = await readPermission(codex);
    await runJson(codex.machine, ['answer', question.uncertaintyId, '--option', once.value]);
    await ends(codex, 2, 'blocked');
    assert.deepEqual(processesOf(codex), []);
  });

  it('continues Codex with the answer that a person gives in a terminal', async () => {
    // Codex calls its model once more after the work, to name the session.
    const turns = [write('port.txt', '9443\n'), say('The port is set.'), say('A port')];
    model.script({ codex: turns });
    const { prompt, uncertaintyId } = await readQuestion(codex);
    assert.equal(prompt, 'Which port?');
    await runJson(codex.machine, ['answer', uncertaintyId, '--option', '9443']);
    const files = ['made-by-codex.txt', 'port.txt'];
    await checkResult(codex, { attempt: 3, files, questions: 2 });
    assert.match(JSON.stringify(model.requests.at(-2)?.body), /Which port\?.*9443/);
  });

  async function checkResult(place: Place, { attempt, files, questions }: Expected) {
    const { job, ...rest } = await ends(place, attempt, 'done');
    const log = logOf({ job, ...rest });
    const { verdict, branch = '', changedFiles } = job.evidence as Evidence;
    assert.equal(verdict, 'verified', JSON.stringify(job.evidence));
    assert.deepEqual(changedFiles, files);
    assert.match(log, /^\[resumed session /m);
    assert.equal((await listQuestions(place)).length, questions, 'nothing is asked again');
    const merged = await place.machine.run(['work', 'merge', job.jobId], place.clone);
    assert.equal(merged.code, 0, merged.stderr);
    assert.equal(git(place.clone, 'branch', '--contains', branch, '--list', 'main'), '* main');
    const mergedFiles = git(place.clone, 'ls-files').split('\n');
    for (const file of files) assert.ok(mergedFiles.includes(file), file);
    assert.deepEqual([model.unexpected, proxy.requests], [[], []]);
  }
});

interface Asked {
  uncertaintyId: string;
  kind: string;
  prompt: string;
  options: { value: string; label: string; description: string }[];
}

/** How a job is to end, with how many questions in all. */
interface Expected {
  attempt: number;
  files: string[];
  questions: number;
}

interface Evidence {
  verdict?: string;
  branch?: string;
  changedFiles?: string[];
}

/** Checks of the repository, which an agent runs on each commit. */
function addChecks(clone: string): void {
  const name = 'whitespace';
  const check = { name, command: 'git diff --check $SIGNALBOX_BASE_SHA $SIGNALBOX_COMMIT_SHA' };
  mkdirSync(join(clone, '.signalbox'));
  writeFileSync(join(clone, '.signalbox/checks.json'), JSON.stringify({ checks: [check] }));
  git(clone, 'add', '.');
  git(clone, 'commit', '--quiet', '-m', 'Add checks');
}

/** The processes that the tool of a job has left. */
function processesOf({ jobId }: Place): string[] {
  const mark = `SIGNALBOX_JOB_ID=${jobId}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark);
      } catch {
        // It has ended meanwhile.
        return false;
      }
    });
}
