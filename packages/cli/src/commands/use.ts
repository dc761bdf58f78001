import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command-module.ts';
import { exitCodes } from '../exit-codes.ts';
import { isSamePlace, type Login, readLogins, saveLogin } from '../hub/credentials.ts';
import type { Io } from '../terminal/io.ts';
import { printTable } from '../terminal/table.ts';

/**
 * `signalbox use NAME`: makes one of the logins of this machine the current one, which commands
 * take without `--workspace`. Without a name it lists them. With `--json`: `{ok, contexts}`.
 */
export const command = defineCommand<{ json?: true }>({
  describe(program) {
    program.argument('[name]', 'a workspace, or workspace@host if several hubs have it');
  },

  async run({ io, args }) {
    const [name] = args;
    const logins = await readLogins(io.env);
    if (name !== undefined) {
      const chosen = findLogin(logins, name);
      await saveLogin(io.env, chosen);
      if (!io.json) sayChosen(io, chosen, logins);
    }
    if (io.json) return io.printJson({ ok: true, contexts: contextsOf(await readLogins(io.env)) });
    if (name === undefined) printContexts(io, contextsOf(logins));
  },
});

interface Context {
  name: string;
  url: string;
  isCurrent: boolean;
}

function contextsOf(logins: readonly Login[]): Context[] {
  return logins.map((login, index) => ({
    name: nameOf(login, logins),
    url: login.url,
    isCurrent: index === 0,
  }));
}

/** The slug; with the host if this machine is logged in to that slug on several hubs. */
function nameOf(login: Login, logins: readonly Login[]): string {
  const alike = logins.filter(({ workspaceSlug }) => workspaceSlug === login.workspaceSlug);
  return alike.length > 1 ? `${login.workspaceSlug}@${placeOf(login)}` : login.workspaceSlug;
}

/** Host, port and path of a hub. */
function placeOf({ url }: Login): string {
  return url.replace(/^https?:\/\//, '');
}

/** @throws {CliError} CONTEXT_NOT_FOUND, CONTEXT_AMBIGUOUS. */
function findLogin(logins: readonly Login[], name: string): Login {
  const found = logins.filter((login) =>
    [login.workspaceSlug, `${login.workspaceSlug}@${placeOf(login)}`].includes(name),
  );
  const [first, ...others] = found;
  if (first === undefined) {
    const known = logins.map((login) => nameOf(login, logins)).join(', ');
    const hint = known === '' ? 'It has no login.' : `It has ${known}.`;
    const message = `This machine is not logged in to "${name}". ${hint}`;
    throw new CliError(exitCodes.usage, 'CONTEXT_NOT_FOUND', message, {
      fix: `signalbox login --workspace ${name.split('@')[0]}`,
    });
  }
  if (others.length === 0) return first;
  const names = found.map((login) => nameOf(login, logins));
  const message = `Several hubs have the workspace "${name}": ${names.join(', ')}.`;
  throw new CliError(exitCodes.usage, 'CONTEXT_AMBIGUOUS', message, {
    fix: `signalbox use ${names[0]}`,
  });
}

function sayChosen(io: Io, chosen: Login, logins: readonly Login[]): void {
  const isSame = logins[0] !== undefined && isSamePlace(logins[0], chosen);
  const what = isSame ? 'is the current workspace already' : 'is the current workspace';
  io.print(`${io.styles.green('✔')} ${chosen.workspaceSlug} at ${chosen.url} ${what}.`);
  const variables = ['SIGNALBOX_TOKEN', 'SIGNALBOX_URL', 'SIGNALBOX_WORKSPACE'];
  const stronger = variables.filter((name) => io.env[name]);
  if (stronger.length === 0) return;
  const verb = stronger.length === 1 ? 'overrides' : 'override';
  io.note(`${stronger.join(' and ')} ${verb} this in this terminal.`);
}

function printContexts(io: Io, contexts: readonly Context[]): void {
  if (contexts.length === 0) {
    io.print('This machine is not logged in. Log in: signalbox login --workspace SLUG');
    return;
  }
  printTable<Context>(
    io,
    [
      { title: '', text: ({ isCurrent }) => (isCurrent ? '✔' : ' '), style: io.styles.green },
      { title: 'NAME', text: ({ name }) => name, style: io.styles.bold },
      { title: 'HUB', text: ({ url }) => url, isFlexible: true },
    ],
    contexts,
  );
}
