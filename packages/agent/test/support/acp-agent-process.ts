/** An agent of an ACP tool as a separate program, for tests that kill it. */
import { createAcpExecutor, startAgent } from '../../src/index.ts';

const { acp, ...options } = JSON.parse(process.argv[2] ?? '');
await startAgent({ ...options, executor: createAcpExecutor({ agent: acp }), random: () => 0.05 });
