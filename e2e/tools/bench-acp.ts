// `npm run tool-bench -- [TOOL …]`: the twelve scenarios with real tools over ACP. It installs what
// is missing and prints a table; it ends with 1 unless every scenario went as expected.
import { type AcpTool, acpTools, startAcpBench } from './acp-bench.ts';
import { acpScenarios, NotOfferedError } from './acp-scenarios.ts';
import { installTool } from './install-tool.ts';
import { tools } from './tool-table.ts';

const known = Object.keys(acpTools) as AcpTool[];
const named = process.argv.slice(2);
const chosen = known.filter((tool) => named.length === 0 || named.includes(tool));
if (named.some((name) => !known.includes(name as AcpTool))) {
  process.stderr.write(`signalbox: the tools are ${known.join(', ')}.\n`);
  process.exit(2);
}
const columns: string[][] = [];
for (const tool of chosen) columns.push(await runTool(tool));
printTable(['', ...Object.keys(acpScenarios)], columns);
process.exit(process.exitCode ?? 0);

async function runTool(tool: AcpTool): Promise<string[]> {
  for (const name of acpTools[tool]) await installTool(name);
  const bench = await startAcpBench(tool, ['allow execute seq *']);
  const cells: string[] = [];
  // The last but one makes the agent pause, so that scenario comes at the end.
  const order = Object.entries(acpScenarios).toSorted(
    ([a], [b]) => Number(a === 'login needed') - Number(b === 'login needed'),
  );
  const seen = new Map<string, string>();
  for (const [name, run] of order) {
    const startMs = performance.now();
    seen.set(name, await run(bench, tool).then(passed, failed));
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    process.stdout.write(`${tool}  ${name}  ${seen.get(name)}  ${seconds} s\n`);
  }
  for (const name of Object.keys(acpScenarios)) cells.push(seen.get(name) ?? '');
  const { unexpected } = bench.bench.model;
  const away = bench.bench.proxy.requests;
  for (const line of [...unexpected, ...away])
    process.stdout.write(`${tool}  unexpected: ${line}\n`);
  if (unexpected.length + away.length > 0) process.exitCode = 1;
  await bench.close();
  return [`${tool} ${tools[tool].version}`, ...cells];
}

function passed(words: string): string {
  return words === '' ? '✔' : `✔ ${words}`;
}

function failed(error: unknown): string {
  if (error instanceof NotOfferedError) return `– ${error.message}`;
  process.exitCode = 1;
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return '✖';
}

function printTable(rows: readonly string[], columns: readonly string[][]): void {
  process.stdout.write('\n');
  for (const [at, name] of rows.entries()) {
    const cells = columns.map((column) => column[at] ?? '');
    process.stdout.write(`| ${[name, ...cells].join(' | ')} |\n`);
    if (at === 0) process.stdout.write(`|${'---|'.repeat(columns.length + 1)}\n`);
  }
}
