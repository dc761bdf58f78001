// `npm run check`: all static checks. Every step runs, so that one run shows all findings.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './build/tool-run.ts';
import { checkDocPaths } from './check/check-doc-paths.ts';
import { checkHouse } from './check/check-house.ts';
import { checkImports, type Finding } from './check/check-imports.ts';
import { checkAllWords } from './check/check-words.ts';
import { formatTime } from './test/test-summary.ts';

const root = join(import.meta.dirname, '..');
const consoleConfig = 'packages/console/tsconfig.json';

const steps: readonly (readonly [name: string, isClean: () => boolean])[] = [
  ['format and lint', () => runTool(root, 'biome', ['ci', '--error-on-warnings', '.'])],
  // Rules that need types: unhandled promises, incomplete switches, …
  ['lint by types', () => runTool(root, 'oxlint', ['--type-aware', '--deny-warnings', '.'])],
  ['imports', () => showFindings(checkImports(root))],
  ['house style', () => showFindings(checkHouse(root))],
  ['words', () => showFindings(checkAllWords(root))],
  ['paths in documents', () => showFindings(checkDocPaths(root))],
  ['types', () => runTool(root, 'tsc', ['-p', '.'])],
  ['types of the console', () => checkConsoleTypes()],
];

const startMs = performance.now();
const failed: string[] = [];
for (const [name, isClean] of steps) {
  const stepMs = performance.now();
  say(`— ${name}`);
  const clean = isClean();
  if (!clean) failed.push(name);
  say(`${clean ? '✓' : '✗'} ${name}  ${formatTime(performance.now() - stepMs)}\n`);
}
say(`Took ${formatTime(performance.now() - startMs)}.`);
say(failed.length === 0 ? 'All checks pass.' : `Failed: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;

function showFindings(findings: readonly Finding[]): boolean {
  for (const { file, line, message } of findings) say(`${file}:${line}  ${message}`);
  return findings.length === 0;
}

/** The console runs in browsers, so it has its own configuration. */
function checkConsoleTypes(): boolean {
  return !existsSync(join(root, consoleConfig)) || runTool(root, 'tsc', ['-p', consoleConfig]);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
