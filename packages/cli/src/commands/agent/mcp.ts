import { serveJobTools } from '@signalbox/agent/job-tools';
import { VERSION } from '@signalbox/contract/version';
import { defineCommand } from '../../command-module.ts';
import { exitCodes } from '../../exit-codes.ts';
import { jobContextOf } from './job-context.ts';

/** `signalbox mcp`: the MCP server of a job, on standard input and output. Agents start it. */
export const command = defineCommand<Record<never, never>>({
  json: 'print errors as JSON; the protocol itself is JSON',
  notes:
    'An agent starts this for claude, codex and every tool that speaks ACP. To give the tools to\n' +
    'another program, let it start this command in a job; it reads SIGNALBOX_JOB_TOKEN and the\n' +
    'other variables of the job.',

  async run({ io: { env, signal } }) {
    await serveJobTools(jobContextOf(env), { version: VERSION, signal });
    return exitCodes.ok;
  },
});
