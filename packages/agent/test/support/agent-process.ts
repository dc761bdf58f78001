/** An agent as a separate program, for tests that kill it. */
import { createCommandExecutor, startAgent } from '../../src/index.ts';

const { command, ...options } = JSON.parse(process.argv[2] ?? '');
await startAgent({
  ...options,
  displayName: 'killed agent',
  executor: createCommandExecutor({ command }),
  random: () => 0.05,
});
