import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** Numbers that fit the badge; more is `9+`. */
const badges = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '9+'];

/** The sign of the console with a badge that holds `text`, in the colour of what needs a person. */
function badgedFavicon(plain: string, text: string): string {
  const fontSize = text.length === 1 ? 17 : 13;
  const badge =
    '<circle cx="21.5" cy="21.5" r="10.5" fill="#6d3fc0" stroke="#fff" stroke-width="1.5"/>' +
    `<text x="21.5" y="${21.5 + fontSize * 0.36}" font-family="Inter, Arial, sans-serif" ` +
    `font-size="${fontSize}" font-weight="700" text-anchor="middle" fill="#fff">${text}</text>`;
  return plain.replace('</svg>', `${badge}</svg>`);
}

/**
 * Writes a favicon for each number of open questions. They are files of the hub, since the content
 * security policy forbids images that a page draws.
 */
export function badgedFavicons(): Plugin {
  const plain = readFileSync(join(import.meta.dirname, 'public/favicon.svg'), 'utf8');
  const files = new Map(
    badges.map((text) => [`favicon-${text.replace('+', '-more')}.svg`, badgedFavicon(plain, text)]),
  );
  return {
    name: 'signalbox-badged-favicons',
    generateBundle() {
      for (const [fileName, source] of files) this.emitFile({ type: 'asset', fileName, source });
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const file = files.get(request.url?.slice(1) ?? '');
        if (file === undefined) next();
        else response.setHeader('content-type', 'image/svg+xml').end(file);
      });
    },
  };
}
