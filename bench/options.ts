import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** The measures; each has rows in the table of targets. */
export const measureNames = [
  'P1',
  'P2',
  'P3',
  'P4',
  'P5',
  'P6',
  'P7',
  'P8',
  'P9',
  'P10',
  'P11',
  'P12',
  'P13',
  'P16',
  'P17',
] as const;
export type MeasureName = (typeof measureNames)[number];

export type EngineName = 'sqlite' | 'postgres';

export const usage = `npm run bench -- [options]

  browser          the same as --only P10; likewise fleet (P11), console (P12), disk (P13),
                   worktrees (P16), attention (P17)
  --only P1,P4     only these measures, of P1 to P17
  --quick          small numbers and short times, to see that everything works
  --rounds N       rounds per figure; default: 3 (1 with --quick)
  --agents N       agents of the fleet; default: more and more, until it misses its target
  --seconds S      how long the fleet is measured; default: 30 (5 with --quick)
  --engine NAME    sqlite (default) or postgres, for the fleet
  --against PATH   another checkout of this repository with the same migrations: the fleet uses its
                   hub and this one in turn, and the report compares them
  --profile PATH   every hub writes a processor profile (.cpuprofile) to this directory
  --dir PATH       directory for the data of servers; default: in bench/
  --write-summary  keep the results: put them into RESULTS.md and results/latest.json, beside those
                   of measures that this run does not take
`;

/** @throws Error with a message for invalid options. */
export function parseOptions(argv: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      dir: { type: 'string' },
      agents: { type: 'string' },
      seconds: { type: 'string' },
      against: { type: 'string' },
      engine: { type: 'string', default: 'sqlite' },
      profile: { type: 'string' },
      'write-summary': { type: 'boolean', default: false },
    },
  });
  const named = [...positionals, ...(values.only?.split(',') ?? [])].map(readName);
  const { quick, agents, seconds, against, profile } = values;
  return {
    only: new Set<MeasureName>(named.length === 0 ? measureNames : named),
    quick,
    rounds: readNumber('rounds', values.rounds ?? (quick ? '1' : '3'), 99),
    isKept: values['write-summary'],
    /** Must be on a real disk. */
    dataRoot: values.dir,
    agents: agents === undefined ? undefined : readNumber('agents', agents, 100_000),
    seconds: seconds === undefined ? undefined : readNumber('seconds', seconds, 3_600),
    engine: readEngine(values.engine),
    against: against === undefined ? undefined : resolve(against),
    profileDir: profile === undefined ? undefined : resolve(profile),
  };
}

export type Options = ReturnType<typeof parseOptions>;

/** Measures that also have a name in words. */
const words: Readonly<Record<string, MeasureName>> = {
  browser: 'P10',
  fleet: 'P11',
  console: 'P12',
  disk: 'P13',
  worktrees: 'P16',
  attention: 'P17',
};

function readName(text: string): MeasureName {
  const name = words[text] ?? measureNames.find((known) => known === text.trim().toUpperCase());
  if (name === undefined) throw new Error(`${text} is not a measure; choose from ${measureNames}.`);
  return name;
}

function readEngine(text: string): EngineName {
  if (text === 'sqlite' || text === 'postgres') return text;
  throw new Error(`--engine must be sqlite or postgres, not ${text}.`);
}

function readNumber(option: string, text: string, max: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new Error(`--${option} must be an integer from 1 to ${max}, not ${text}.`);
}
