import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type StoredAnswer, sendStored, storeAnswer } from './stored-answer.ts';

/**
 * Allows nothing by default, and what the console needs only from the hub itself.
 *
 * @param storeOrigin of the object store, to which the console uploads files; null without one.
 */
const contentSecurityPolicy = (storeOrigin: string | null) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    `connect-src 'self'${storeOrigin === null ? '' : ` ${storeOrigin}`}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** The build names these files by a hash of their content, so they never change. */
const HASHED_FOLDER = '/assets/';
const HASHED_CACHING = 'public, max-age=31536000, immutable';
/** Browsers revalidate every other file each time; the ETag makes that cheap. */
const PLAIN_CACHING = 'no-cache';
const INDEX = '/index.html';
/** The documentation, which the build puts beside the console's files. */
const DOCS = '/docs';

/** Paths of the API: an unknown one is an error, never the console's page. */
const apiPaths = ['/control-plane', '/console-api', '/integrations', '/mcp', '/.well-known'];

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};
/** Files of these types are compressed already. */
const compressedTypes = new Set(['.png', '.ico', '.woff2']);

/**
 * Serves the built console: its files, the documentation under `/docs`, and the console's page
 * under every other path that a browser opens and that is not of the API. The files are few and
 * small and are read once, so the path of a request never reaches the file system.
 *
 * @param directory the build; if empty or without `index.html`, a page says how to build it.
 * @param storeOrigin of the object store; null without one.
 */
export function serveConsole(
  server: FastifyInstance,
  directory: string,
  storeOrigin: string | null,
): void {
  const policy = contentSecurityPolicy(storeOrigin);
  const sendFile = (request: FastifyRequest, reply: FastifyReply, file: StoredAnswer) =>
    sendStored(request, reply.header('content-security-policy', policy), file);
  const files = directory === '' ? new Map<string, StoredAnswer>() : readConsole(directory);
  const index = files.get(INDEX) ?? fileOf(INDEX, Buffer.from(UNBUILT_PAGE));
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.replace(/[?#].*$/, '');
    if (path === DOCS || path.startsWith(`${DOCS}/`)) return sendDocument(request, reply, path);
    const file = files.get(path) ?? (isPage(request, path) ? index : undefined);
    return file === undefined ? reply.callNotFound() : sendFile(request, reply, file);
  };
  /** Pages of the documentation are named without their ending. */
  const sendDocument = (request: FastifyRequest, reply: FastifyReply, path: string) => {
    const name = path.replace(/\/+$/, '');
    const file = files.get(name) ?? files.get(name === DOCS ? `${DOCS}${INDEX}` : `${name}.html`);
    if (file !== undefined) return sendFile(request, reply, file);
    const missing = files.get(`${DOCS}/404.html`);
    if (missing === undefined) return reply.callNotFound();
    return sendFile(request, reply.code(404), missing);
  };
  server.route({ method: ['GET', 'HEAD'], url: '/*', handler });
}

function readConsole(directory: string): Map<string, StoredAnswer> {
  const files = new Map<string, StoredAnswer>();
  if (!existsSync(join(directory, INDEX))) return files;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const place = join(entry.parentPath, entry.name);
    const path = `/${relative(directory, place).replaceAll(sep, '/')}`;
    files.set(path, fileOf(path, readFileSync(place)));
  }
  return files;
}

function fileOf(path: string, bytes: Buffer): StoredAnswer {
  const extension = extname(path);
  return storeAnswer(bytes, {
    contentType: contentTypes[extension] ?? 'application/octet-stream',
    caching: path.startsWith(HASHED_FOLDER) ? HASHED_CACHING : PLAIN_CACHING,
    isCompressible: !compressedTypes.has(extension),
  });
}

/** Whether a path is a page of the console: a browser opens it, and it names no missing file. */
function isPage(request: FastifyRequest, path: string): boolean {
  const isApi = apiPaths.some((own) => path === own || path.startsWith(`${own}/`));
  const wantsPage = request.headers.accept?.includes('text/html') ?? false;
  return path === '/' || (wantsPage && !isApi && extname(path) === '');
}

const UNBUILT_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Signalbox</title>
  </head>
  <body>
    <h1>Signalbox is running</h1>
    <p>The console is not built. Stop this hub and run in the project folder:</p>
    <pre>npm start</pre>
    <p>This builds the console and starts the hub again. The HTTP API works without it.</p>
  </body>
</html>
`;
