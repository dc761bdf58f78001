import type { endpoints, RequestOf } from '@signalbox/contract';

type EnqueueRequest = RequestOf<typeof endpoints.jobs.enqueue>;

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The call that makes a job, for a shell with a token in SIGNALBOX_TOKEN. */
export function curlOf(hubUrl: string, path: string, request: EnqueueRequest): string {
  return [
    `curl -sS ${quote(hubUrl + path)}`,
    `-H "Authorization: Bearer $SIGNALBOX_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `--data-raw ${quote(JSON.stringify(request))}`,
  ].join(' \\\n  ');
}

/** The flag for variants; null: it has no form for them, such as for their models. */
function withFlag(variants: NonNullable<EnqueueRequest['variants']>): string | null {
  if (variants.some(({ model }) => model)) return null;
  const tools = variants.flatMap(({ tool }) => tool ?? []);
  if (tools.length === 0) return String(variants.length);
  return tools.length === variants.length ? tools.join(',') : null;
}

/**
 * The command that makes a job, on a machine that is logged in to the workspace, in the folder of
 * its files. Null: the command has no form for its variants.
 */
export function enqueueCommandOf(
  hubUrl: string,
  slug: string,
  request: EnqueueRequest,
  fileNames: readonly string[] = [],
): string | null {
  const { repoId, kind, prompt, role, priority, dependsOn, base, delayMs, requirements } = request;
  const { runId, budget, concurrencyKey, maxAttempts, variants } = request;
  const tries = variants === undefined ? undefined : withFlag(variants);
  if (tries === null) return null;
  const words: string[] = ['signalbox enqueue'];
  const add = (flag: string, value: string | number | undefined) => {
    // With `=`, a value such as -10 is no flag.
    if (value !== undefined) words.push(`${flag}=${quote(String(value))}`);
  };
  add('--url', hubUrl);
  add('--workspace', slug);
  add('--repo', repoId);
  add('--kind', kind);
  add('--role', role);
  add('--priority', priority);
  add('--delay', delayMs === undefined ? undefined : `${delayMs}ms`);
  for (const jobId of dependsOn ?? []) add('--depends-on', jobId);
  add('--base', base);
  add(
    '--requirements',
    typeof requirements === 'object' ? JSON.stringify(requirements) : requirements,
  );
  add('--with', tries);
  add('--run', runId);
  add('--budget', typeof budget?.costUsd === 'number' ? budget.costUsd : undefined);
  const { timeLimitMs } = budget ?? {};
  add('--time-limit', typeof timeLimitMs === 'number' ? `${timeLimitMs}ms` : undefined);
  add('--concurrency-key', concurrencyKey);
  add('--max-attempts', maxAttempts);
  for (const fileName of fileNames) add('--attach', fileName);
  // Last, after `--`, since a prompt may begin with a dash.
  return `${words.join(' ')} -- ${quote(prompt)}`;
}
