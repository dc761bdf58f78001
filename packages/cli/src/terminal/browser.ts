import { spawn } from 'node:child_process';
import type { Io } from './io.ts';

/**
 * Opens a URL in the person's browser. Returns false if no browser can be visible: no terminal, no
 * display, or an SSH session.
 */
export function openBrowser(io: Io, url: string): boolean {
  const { env } = io;
  if (!io.stdout.isTTY || env.SSH_CONNECTION || env.CI) return false;
  const [file, ...args] = openerOf(env);
  if (file === undefined) return false;
  const child = spawn(file, [...args, url], { stdio: 'ignore', detached: true });
  // If the opener fails, the person still has the printed URL.
  child.on('error', () => {});
  child.unref();
  return true;
}

function openerOf(env: NodeJS.ProcessEnv): string[] {
  if (process.platform === 'darwin') return ['open'];
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : [];
}
