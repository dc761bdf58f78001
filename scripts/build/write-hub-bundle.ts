// Writes the bundle of the hub in the project whose folder is given (hub-bundle.ts).
import { planHubBundle } from './hub-bundle.ts';
import { writeBundle } from './source-bundle.ts';

const [, , root] = process.argv;
if (root === undefined) throw new Error('give the folder of the project');
try {
  await writeBundle(planHubBundle(root));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
