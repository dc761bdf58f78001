import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { ToolBench } from './tool-bench.ts';

const SHOWN_MS_MAX = 60_000;

/** A coding tool on a terminal, as a person starts it in a folder. */
export interface OwnSession {
  /** Of the tool itself. */
  readonly pid: number;
  /** Everything that the terminal has shown, without control sequences and blanks. */
  shown(): string;
  /** Resolves with the time when the terminal has shown it. */
  untilShown(pattern: RegExp): Promise<number>;
  type(keys: string): void;
  end(): Promise<void>;
}

/** Settings of Claude Code with which a new home asks nothing at the start. */
export function skipFirstQuestions({ place, clone }: ToolBench): void {
  const key = place.env.ANTHROPIC_API_KEY ?? '';
  const settings = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    projects: { [clone]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  };
  mkdirSync(place.claudeDir, { recursive: true });
  writeFileSync(join(place.claudeDir, '.claude.json'), JSON.stringify(settings));
  const file = join(place.codexDir, 'config.toml');
  const trust = `[projects.${JSON.stringify(clone)}]\ntrust_level = "trusted"\n`;
  const asks = 'approval_policy = "on-request"\nsandbox_mode = "workspace-write"\n';
  writeFileSync(file, asks + readFileSync(file, 'utf8') + trust);
}

/** Starts a tool on a terminal. Codex trusts the hooks that a person trusts in its `/hooks`. */
export async function startOwnSession(
  { folder, place, clone }: ToolBench,
  tool: 'claude' | 'codex',
  prompt: string,
  more: NodeJS.ProcessEnv = {},
): Promise<OwnSession> {
  const pidFile = join(folder, `session-${Date.now()}.pid`);
  const lines = {
    claude: `claude --permission-mode default '${prompt}'`,
    // A model that Codex does not know has no newer one that it would offer.
    codex: `codex --model scripted-model --dangerously-bypass-hook-trust '${prompt}'`,
  };
  const line = `stty cols 160 rows 50; echo $$ > ${pidFile}; exec ${lines[tool]}`;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: clone,
    env: { ...place.env, ...ownSettings(folder), ...terminal, ...more },
  });
  let output = '';
  let look = () => {};
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    // Codex asks where the cursor is, as terminals answer.
    if (text.includes('\u001b[6n')) child.stdin.write('\u001b[1;1R');
    look();
  });
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close');
  const shown = () => stripVTControlCharacters(output).replaceAll(/\s+/g, '');
  const untilShown = async (pattern: RegExp) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    look = () => void (pattern.test(shown()) && resolve());
    look();
    const fail = (why: string) => reject(new Error(`${why} without ${pattern}: ${shown()}`));
    ended.then(() => fail('It ended'), reject);
    const limit = setTimeout(() => fail('A minute passed'), SHOWN_MS_MAX);
    await promise.finally(() => clearTimeout(limit));
    return performance.now();
  };
  await untilShown(tool === 'claude' ? /ClaudeCode/ : /OpenAICodex/);
  return {
    pid: Number(readFileSync(pidFile, 'utf8')),
    shown,
    untilShown,
    type: (keys) => void child.stdin.write(keys),
    async end() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const terminal = { SHELL: '/bin/sh', TERM: 'xterm-256color' };

function ownSettings(folder: string) {
  return {
    SIGNALBOX_CONFIG_DIR: join(folder, 'config'),
    SIGNALBOX_STATE_DIR: join(folder, 'state'),
  };
}

/** The way to the hub, which a test can block. */
export interface Relay {
  /** `slow`: connections are accepted, and their bytes wait. */
  set(mode: 'pass' | 'slow' | 'down'): Promise<void>;
  close(): Promise<void>;
}

/** Leads the login of the machine over a relay. */
export async function relayLogin({ folder, hub }: ToolBench): Promise<Relay> {
  const target = new URL(hub.baseUrl);
  const sockets = new Set<Socket>();
  let waiting: (() => void)[] = [];
  let isSlow = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    const pass = () => {
      const onward = connect(Number(target.port), target.hostname);
      onward.on('error', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    };
    if (isSlow) waiting.push(pass);
    else pass();
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as { port: number }).port;
  };
  const block = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const port = await listen(0);
  const file = join(folder, 'config/credentials.json');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replaceAll(hub.baseUrl, `http://127.0.0.1:${port}`),
  );
  return {
    async set(mode) {
      isSlow = mode === 'slow';
      const passed = waiting;
      waiting = [];
      for (const pass of passed) pass();
      if (mode === 'down') await block();
      else if (!server.listening) await listen(port);
    },
    close: block,
  };
}
