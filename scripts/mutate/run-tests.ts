// Runs the test files that it is given in one process, in their order (`node --test` sorts them).
// Each is a suite with the path of its file.
import { resolve } from 'node:path';
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) {
  suite(file, async () => {
    await import(pathToFileURL(resolve(file)).href);
  });
}
