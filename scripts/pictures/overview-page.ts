import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Picture {
  name: string;
  state: string;
  width: string;
  theme: 'light' | 'dark';
  file: string;
}

/** Writes a page that shows all pictures in rows, a page of the console each. Returns its path. */
export function writeOverview(folder: string, pictures: readonly Picture[]): string {
  const rows = [...Map.groupBy(pictures, ({ name }) => name)].map(
    ([name, shown]) => `<h2>${name}</h2><div>${shown.map(drawPicture).join('')}</div>`,
  );
  const path = join(folder, 'index.html');
  writeFileSync(
    path,
    `<!doctype html><meta charset="utf-8"><title>Pages of the console</title><style>${style}</style>
<h1>${pictures.length} pictures of the console</h1>
${rows.join('\n')}
`,
  );
  return path;
}

const style = `body{font:14px sans-serif;margin:16px;background:#888}
div{display:flex;flex-wrap:wrap;gap:8px;align-items:start}
figure{margin:0}img{display:block;max-height:420px}`;

function drawPicture({ state, width, theme, file }: Picture): string {
  const words = `${state}, ${width} px, ${theme}`;
  return `<figure><a href="${file}"><img src="${file}" alt="${words}"></a>${words}</figure>`;
}
