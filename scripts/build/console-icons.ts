import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { icons } from '@iconify-json/lucide';

/** The icons that the console uses, by their names at https://lucide.dev. */
export const consoleIcons = [
  'activity',
  'archive',
  'arrow-down',
  'arrow-left',
  'arrow-up',
  'ban',
  'bot',
  'check',
  'chevron-down',
  'chevron-right',
  'chevrons-up-down',
  'circle',
  'circle-check',
  'circle-pause',
  'circle-play',
  'circle-question-mark',
  'circle-slash',
  'circle-user',
  'circle-x',
  'clock',
  'copy',
  'download',
  'ellipsis',
  'eye',
  'file-text',
  'folder-git-2',
  'globe',
  'inbox',
  'key-round',
  'list-todo',
  'log-out',
  'monitor',
  'monitor-smartphone',
  'moon',
  'panel-left',
  'pencil',
  'plus',
  'rotate-ccw',
  'scroll-text',
  'search',
  'settings',
  'square-terminal',
  'sun',
  'triangle-alert',
  'undo-2',
  'workflow',
  'wrench',
  'x',
] as const;

/** The generated module. */
export const iconShapesPath = 'packages/console/src/parts/icon-shapes.ts';

type IconShape = readonly [tag: string, attributes: Readonly<Record<string, string>>];

/** Attributes that the `svg` element of every icon has, so its shapes need not repeat them. */
const sharedAttributes = new Set(['stroke', 'stroke-linecap', 'stroke-linejoin', 'stroke-width']);

const header = `/**
 * The shapes of the icons that the console uses, each in a square of 24. Written by
 * \`npm run icons\` from the list in \`scripts/build/console-icons.ts\`: do not edit.
 *
 * Lucide (https://lucide.dev), ISC licence, with icons of Feather, MIT licence.
 * Copyright (c) 2026 Lucide Icons and Contributors; copyright (c) 2013-present Cole Bemis.
 * \`packages/console/ICONS-LICENSE\` holds both licences.
 */
`;

/** The shapes of the icon `name`. */
function shapesOf(name: string): IconShape[] {
  const icon = icons.icons[name];
  if (!icon) throw new Error(`Lucide has no icon "${name}": look for it at https://lucide.dev`);
  const drawing = icon.body.replaceAll(/<\/?g[^>]*>/g, '');
  const shapes = [...drawing.matchAll(/<([a-z]+)((?: [a-z0-9-]+="[^"]*")+)\/>/g)];
  const read = shapes.map(([text]) => text).join('');
  if (read !== drawing)
    throw new Error(`Icon "${name}" has markup that is not a shape: ${drawing}`);
  return shapes.map(([, tag = '', attributes = '']) => [tag, ownAttributes(attributes)]);
}

/** The module of the console that holds the shapes, as the formatter writes it. */
export function writeIconShapes(root: string): string {
  const lines = consoleIcons.map(
    (name) => `  ${JSON.stringify(name)}: ${JSON.stringify(shapesOf(name))},\n`,
  );
  const source = `${header}export const iconShapes = {\n${lines.join('')}} as const;\n`;
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const args = [biome, 'format', `--stdin-file-path=${iconShapesPath}`];
  return execFileSync(process.execPath, args, { cwd: root, input: source, encoding: 'utf8' });
}

function ownAttributes(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([a-z0-9-]+)="([^"]*)"/g)];
  return Object.fromEntries(
    pairs
      .map(([, name = '', value = '']) => [name, value] as const)
      .filter(([name, value]) => !sharedAttributes.has(name) && `${name} ${value}` !== 'fill none'),
  );
}
