import type { JobTemplate, JobTemplateValues } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { nearestOf } from '../find/nearest.ts';
import type { Io } from '../terminal/io.ts';
import type { HubSession } from './hub-session.ts';

/** @throws {CliError} TEMPLATE_NOT_FOUND, with the name that is nearest. */
export async function findTemplate(
  { client, workspaceId }: HubSession,
  name: string,
): Promise<JobTemplate> {
  const { templates } = await client.jobTemplates.list({ workspaceId });
  const found = templates.find((template) => template.name === name);
  if (found !== undefined) return found;
  const known = templates.map((template) => template.name);
  const near = nearestOf(name, known);
  const all = known.length === 0 ? 'It has none yet.' : `It has ${known.join(', ')}.`;
  const hint = near === null ? all : `Did you mean ${near}?`;
  const message = `The workspace has no template "${name}". ${hint}`;
  throw new CliError(exitCodes.usage, 'TEMPLATE_NOT_FOUND', message, {
    fix: `Save one: signalbox enqueue "…" --save-template ${quoted(name)}`,
  });
}

/** Saves values under a name, in place of those that it had. With `--json`: `{ok, template}`. */
export async function saveTemplate(
  io: Io,
  { client, workspaceId }: HubSession,
  name: string,
  values: JobTemplateValues,
): Promise<void> {
  const body = { workspaceId, name, values };
  const answer = await client.jobTemplates.save(body);
  if (io.json) return io.printJson(answer);
  io.print(`${io.styles.green('✔')} Saved the template ${name}`);
  io.print(io.styles.dim(`  signalbox enqueue --template ${quoted(name)}`));
}

/**
 * Fills the blanks of a prompt, such as `{{area}}`; every blank needs a value, every value a blank.
 * @throws {CliError} TEMPLATE_INCOMPLETE
 */
export function fillPrompt(
  { name, prompt }: { name: string; prompt: string },
  values: Readonly<Record<string, string>>,
): string {
  const asked = new Set([...prompt.matchAll(blank)].map(([, key = '']) => key));
  const missing = [...asked].filter((key) => values[key] === undefined);
  const unknown = Object.keys(values).find((key) => !asked.has(key));
  if (missing.length > 0) {
    const how = missing.map((key) => (key === 'prompt' ? 'a prompt' : `--set ${key}=…`));
    throw incomplete(`The template ${name} needs ${how.join(' and ')}.`);
  }
  if (unknown !== undefined) {
    throw incomplete(`The template ${name} has no {{${unknown}}}, so the value would be lost.`);
  }
  return prompt.replace(blank, (_, key: string) => values[key] ?? '');
}

const blank = /\{\{\s*([A-Za-z][\w-]*)\s*\}\}/g;

function incomplete(message: string): CliError {
  return new CliError(exitCodes.usage, 'TEMPLATE_INCOMPLETE', message);
}

function quoted(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}
