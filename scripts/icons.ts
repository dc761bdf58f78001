// `npm run icons`: writes the shapes of the console's icons from the package of all icons, which is
// for development only: a hub that builds its console needs 44 of 1,900.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { iconShapesPath, writeIconShapes } from './build/console-icons.ts';

const root = join(import.meta.dirname, '..');
writeFileSync(join(root, iconShapesPath), writeIconShapes(root));
process.stdout.write(`Wrote ${iconShapesPath}\n`);
