import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { hubScript } from './hub-process.ts';
import { startNode } from './node-process.ts';
import { makeTempDir } from './temp-dir.ts';

describe('npm start at a terminal', () => {
  const folder = makeTempDir({ after });

  /** Starts it on a terminal of 60 columns, as a person would. */
  function startAtTerminal(name: string, env: NodeJS.ProcessEnv = {}) {
    const line = `stty cols 60; '${process.execPath}' '${hubScript}'`;
    return startNode(['-qec', line, '/dev/null'], {
      node: 'script',
      env: {
        SVC_PORT: '0',
        SVC_DATA_DIR: join(folder, name),
        SIGNALBOX_CONFIG_DIR: join(folder, `${name}-config`),
        CI: '',
        DISPLAY: '',
        WAYLAND_DISPLAY: '',
        ...env,
      },
    });
  }

  it('creates the owner and prints a link that signs in, and the command for a clone', async () => {
    const start = startAtTerminal('own');
    await start.waitFor(/Open the console:\s+http:\S+\/sign-in-link#token=\S+/);
    await start.waitFor(/To let an agent work on a clone, run there: +\S.* up/);
    start.child.kill('SIGTERM');
    await start.ended;
  });

  it('leaves the first owner to its operator with a setting of a server', async () => {
    const start = startAtTerminal('server', { SVC_BASE_URL: 'https://signalbox.acme.dev' });
    await start.waitFor(/create the first owner:\s+https:\S+\/first-owner#token=\S+/);
    start.child.kill('SIGTERM');
    await start.ended;
  });
});
