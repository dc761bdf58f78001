// An adapter as those of Claude Code and Codex: it starts the tool, and ends with it.
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const place = process.env.ACP_SCRIPT_DIR ?? '';
mkdirSync(place, { recursive: true });
appendFileSync(join(place, 'log'), `adapter ${process.pid}\n`);
const script = join(import.meta.dirname, 'acp-agent.ts');
const tool = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(tool.stdin);
tool.stdout.pipe(process.stdout);
tool.once('exit', () => process.exit(1));
