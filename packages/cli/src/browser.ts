import { spawn } from 'node:child_process';
import type { Io } from './io.ts';

/**
 * Opens an address in the person's browser; false where there is none to be seen: no terminal, no
 * display, or a machine that is reached over SSH.
 */
export function openBrowser(io: Io, url: string): boolean {
  const { env } = io;
  if (!io.stdout.isTTY || env.SSH_CONNECTION || env.CI) return false;
  const [file, ...args] = openerOf(env);
  if (file === undefined) return false;
  const child = spawn(file, [...args, url], { stdio: 'ignore', detached: true });
  // Without an opener the person has the address still.
  child.on('error', () => {});
  child.unref();
  return true;
}

function openerOf(env: NodeJS.ProcessEnv): string[] {
  if (process.platform === 'darwin') return ['open'];
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : [];
}
