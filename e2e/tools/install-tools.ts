// `npm run coding-tools -- [NAME …]`: installs coding tools for the scenarios of this folder.
// Without names: those of CI. With `--newest`: tries their newest versions, and says what differs.
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { installTool } from './install-tool.ts';
import { ciTools, type ToolName, tools } from './tool-table.ts';

const args = process.argv.slice(2);
const isNewest = args.includes('--newest');
const names = args.filter((arg) => arg !== '--newest');
const unknown = names.filter((name) => !Object.hasOwn(tools, name));
if (unknown.length > 0) {
  const known = Object.keys(tools).join(', ');
  process.stderr.write(`signalbox: no tool is named ${unknown.join(', ')}; known: ${known}\n`);
  process.exitCode = 2;
} else {
  // Every name is one of the table, as checked above.
  const chosen = names.length === 0 ? ciTools : (names as ToolName[]);
  if (isNewest) await tryAll(chosen);
  else for (const name of chosen) await install(name);
}

async function tryAll(chosen: readonly ToolName[]): Promise<void> {
  const { tryNewest } = await import('./try-newest.ts');
  for (const name of chosen) if (!(await tryNewest(name))) process.exitCode = 1;
}

async function install(name: ToolName): Promise<void> {
  const startMs = performance.now();
  const { tool, isNew } = await installTool(name);
  const [sizeMb = '?'] = execFileSync('du', ['-sm', dirname(tool.bin)], { encoding: 'utf8' }).split(
    '\t',
  );
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  const how = isNew ? `installed in ${seconds} s` : 'already there';
  process.stdout.write(`${name} ${tool.version}  ${sizeMb} MB  ${how}\n`);
}
