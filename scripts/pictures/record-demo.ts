import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnInTerminal } from '../demo/test/pseudo-terminal.ts';
import type { Recording } from './terminal-movie.ts';

const columns = 100;
const rows = 30;

/**
 * Runs the demo in a real terminal and records it, as a person with a home of their own, so that
 * the picture shows nothing of the machine that makes it.
 *
 * @throws if the demo fails.
 */
export async function recordDemo(root: string): Promise<Recording> {
  const home = mkdtempSync(join(tmpdir(), 'signalbox-home-'));
  try {
    writeFileSync(join(home, '.gitconfig'), '[user]\nname = Ada\nemail = ada@acme.example\n');
    const clone = join(home, 'src/signalbox');
    execFileSync('git', ['clone', '--quiet', root, clone]);
    return await record([join(root, 'scripts/demo.ts'), '--repo', clone], home);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function record(args: readonly string[], home: string): Promise<Recording> {
  const startMs = performance.now();
  const parts: { atMs: number; text: string }[] = [];
  const demo = spawnInTerminal([process.execPath, ...args], {
    columns,
    env: { ...process.env, HOME: home, TMPDIR: home },
  });
  demo.stdout?.setEncoding('utf8').on('data', (text: string) => {
    parts.push({ atMs: performance.now() - startMs, text: text.replaceAll(home, '~') });
  });
  const [code] = (await once(demo, 'close')) as [number | null];
  if (code !== 0) {
    throw new Error(`The demo exited with ${code}:\n${parts.map(({ text }) => text).join('')}`);
  }
  const firstMs = parts[0]?.atMs ?? 0;
  return { columns, rows, parts: parts.map((part) => ({ ...part, atMs: part.atMs - firstMs })) };
}
