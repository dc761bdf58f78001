import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { projectRoot } from './node-process.ts';

/** One version of a package: its manifest, and what sends its archive. */
interface Release {
  readonly manifest: { readonly name: string; readonly version: string };
  send(response: ServerResponse): Promise<void>;
}

export interface PackageRegistry {
  readonly url: string;
  close(): void;
}

/**
 * Serves archives to npm as a registry does, with what they depend on from this project's
 * node_modules: exactly the versions of package-lock.json, and no network.
 */
export async function startRegistry(archives: readonly string[]): Promise<PackageRegistry> {
  const releases = [...archives.map(readArchive), ...readInstalled()];
  const server = createServer(async (request, response) => {
    const [, name = '', version] =
      /^\/((?:@[^/]+\/)?[^/]+)(?:\/-\/(.+)\.tgz)?$/.exec(decodeURIComponent(request.url ?? '')) ??
      [];
    const found = releases.filter(({ manifest }) => manifest.name === name);
    const wanted = found.find(({ manifest }) => manifest.version === version);
    if (wanted !== undefined) return await wanted.send(response);
    response.statusCode = found.length > 0 && version === undefined ? 200 : 404;
    const entries = found.map(({ manifest }): [string, object] => {
      const tarball = `http://${request.headers.host}/${name}/-/${manifest.version}.tgz`;
      return [manifest.version, { ...manifest, dist: { tarball } }];
    });
    const latest = entries[0]?.[0];
    const versions = Object.fromEntries(entries);
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function readArchive(path: string): Release {
  const text = execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' });
  return {
    manifest: JSON.parse(text) as Release['manifest'],
    async send(response) {
      response.end(readFileSync(path));
    },
  };
}

/** The packages of the lock, with the parts of their manifests that npm wrote there. */
function readInstalled(): Release[] {
  const lock = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { name?: string; version: string; link?: boolean; dev?: boolean }>;
  };
  const entries = Object.entries(lock.packages).filter(([path, { link, dev }]) => {
    return path.includes('node_modules/') && link !== true && dev !== true;
  });
  return entries.map(([path, entry]) => ({
    manifest: { ...entry, name: entry.name ?? path.replace(/^.*node_modules\//, '') },
    send: (response) => sendFolder(join(projectRoot, path), response),
  }));
}

async function sendFolder(folder: string, response: ServerResponse): Promise<void> {
  const name = basename(folder);
  const args = ['-cf', '-', `--exclude=${name}/node_modules`, '-C', dirname(folder), name];
  const tar = spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await pipeline(tar.stdout, response);
}
