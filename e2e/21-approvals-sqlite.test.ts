import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { git } from './git-clone.ts';
import { callConsole } from './person.ts';
import { toolMissing } from './tools/install-tool.ts';
import { type JobAnswer, logOf, startToolBench, type ToolBench } from './tools/tool-bench.ts';
import { native, say, type Turn } from './tools/turns.ts';

/** The same action, in the words of each tool; no rule of the agent or the tool allows it. */
const actions = {
  claude: native('Bash', { command: 'touch made-by-claude.txt', description: 'Makes a file' }),
  codex: native('exec_command', {
    cmd: 'touch made-by-codex.txt',
    sandbox_permissions: 'require_escalated',
    justification: 'May I make a file?',
  }),
} as const satisfies Record<string, Turn>;

const tools = ['claude', 'claude-acp', 'codex', 'codex-acp'] as const;

describe('a real tool asks, is parked, and continues with the answer', {
  skip: toolMissing(...tools),
}, () => {
  let bench: ToolBench;
  before(async () => {
    bench = await startToolBench(tools);
  });
  afterEach(() => bench.checkRequests());
  after(() => bench?.close());

  for (const tool of ['claude', 'codex'] as const) {
    it(`${tool}, over its ACP adapter`, async () => {
      const action = actions[tool];
      // The second one because Claude may call its model once more when its turn is canceled.
      bench.model.script({ [tool]: [action, action] });
      const jobId = await bench.enqueue(`Make a file.\n\n[scenario ${tool}]`);
      const agent = bench.machine.start(['agent', 'start', '--acp', tool, '--hold', '2s']);
      try {
        const question = await findQuestion(bench, jobId);
        assert.equal(question.kind, 'approval');
        assert.equal(question.prompt, `${tool} asks to run a command: touch made-by-${tool}.txt`);
        const blocked = await untilStatus(bench, jobId, ['blocked', 'done', 'failed']);
        assert.equal(blocked.job.status, 'blocked', logOf(blocked));
        // The job is blocked once the tool has ended: what follows is said to the resumed session.
        const turns = [action, say('The file is there.')];
        // Codex calls its model once more after the work, to name the session.
        if (tool === 'codex') turns.push(say('A file'));
        bench.model.script({ [tool]: turns });
        const yes = question.options.find(({ description }) =>
          /this action once/.test(description),
        );
        assert.ok(yes, JSON.stringify(question.options));
        await callConsole(
          bench.hub.baseUrl,
          'uncertainties/add-resolution',
          {
            ...{ workspaceId: bench.person.workspaceId, uncertaintyId: question.uncertaintyId },
            ...{ mode: 'answered', value: yes.value, confidence: 1 },
          },
          bench.person.cookie,
        );
        const done = await untilStatus(bench, jobId, ['done', 'failed', 'blocked']);
        assert.equal(done.job.status, 'done', logOf(done));
        assert.equal(done.job.message, 'The file is there.');
        assert.deepEqual(done.job.evidence?.changedFiles, [`made-by-${tool}.txt`]);
        const branch = done.job.evidence?.branch ?? '';
        assert.equal(git(bench.clone, 'show', `${branch}:made-by-${tool}.txt`), '');
        assert.equal(done.job.attempt, 2);
        assert.match(logOf(done), /^\[resumed session /m);
        const all = await listQuestions(bench, jobId);
        assert.equal(all.length, 1, 'the person is asked once');
      } finally {
        agent.child.kill('SIGQUIT');
        await agent.ended;
      }
    });
  }
});

interface Asked {
  uncertaintyId: string;
  kind: string;
  prompt: string;
  options: { value: string; label: string; description: string }[];
}

async function listQuestions(bench: ToolBench, jobId: string, status?: 'open'): Promise<Asked[]> {
  const { workspaceId, cookie } = bench.person;
  const body = { workspaceId, jobId, ...(status === undefined ? {} : { status }) };
  const { answer } = await callConsole(bench.hub.baseUrl, 'uncertainties/list', body, cookie);
  return answer.uncertainties as Asked[];
}

function findQuestion(bench: ToolBench, jobId: string): Promise<Asked> {
  return poll('a question', async () => {
    const [asked] = await listQuestions(bench, jobId, 'open');
    if (asked !== undefined) return asked;
    const { job } = await bench.readJob(jobId);
    assert.ok(!['done', 'failed'].includes(job.status), `${job.status}: ${job.message}`);
    return null;
  });
}

function untilStatus(
  bench: ToolBench,
  jobId: string,
  statuses: readonly string[],
): Promise<JobAnswer> {
  return poll(`the job to be ${statuses.join(' or ')}`, async () => {
    const answer = await bench.readJob(jobId);
    return statuses.includes(answer.job.status) ? answer : null;
  });
}

const LIMIT_MS = 120_000;

async function poll<Found>(what: string, look: () => Promise<Found | null>): Promise<Found> {
  const untilMs = Date.now() + LIMIT_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > untilMs) throw new Error(`Waited in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
