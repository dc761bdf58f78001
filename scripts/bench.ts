// `npm run bench`: measures the hub and its peers in turn; see bench/README.md.
import { parseOptions, usage } from '../bench/options.ts';
import { runBench } from '../bench/run.ts';

// The exit handlers end every process and remove every file of the bench.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
}

if (process.argv.includes('--help')) {
  process.stdout.write(usage);
} else {
  try {
    const options = parseOptions(process.argv.slice(2));
    await runBench(options, (line) => process.stdout.write(`${line}\n`));
  } catch (error) {
    process.stderr.write(`signalbox: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
