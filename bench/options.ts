import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** The measures of this bench; each is a row of the table of targets. */
export const measureNames = [
  ...(['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9'] as const),
  ...(['P10', 'P11', 'P12', 'P13'] as const),
] as const;
export type MeasureName = (typeof measureNames)[number];

type Engine = 'sqlite' | 'postgres';

export interface Options {
  readonly only: ReadonlySet<MeasureName>;
  /** Small numbers and short times, as a functional check; the figures are not to be quoted. */
  readonly quick: boolean;
  /** Only what the targets need: no further rows, and long measures once or on SQLite alone. */
  readonly brief: boolean;
  readonly rounds: number;
  /** Whether the results are quoted in RESULTS.md: for a complete run, or on request. */
  readonly isQuoted: boolean;
  /** Directory for the data of measured servers; must be on a real disk. */
  readonly dataRoot: string | null;
  /** P11: the number of agents; null: more and more, until the target is missed. */
  readonly agents: number | null;
  /** P11: how long it measures; null: the default. */
  readonly seconds: number | null;
  /** P11: the engine; null: both. */
  readonly engine: Engine | null;
  /** P11: another checkout of this repository, whose hub is measured in turn with this one. */
  readonly against: string | null;
  /** P11: whether agents send renewals and heartbeats with their output; the other hub's do not. */
  readonly usesReports: boolean;
  /** Directory for a processor profile of each hub; null: none. */
  readonly profileDir: string | null;
}

export const usage = `npm run bench -- [options]

  browser          the same as --only P10; likewise fleet (P11), console (P12), disk (P13)
  --only P1,P4     only these measures, of P1 to P13
  --quick          small numbers and short times; takes at most two minutes
  --brief          only the rows that the targets need, with full times: long measures (P6, P11)
                   run once, on SQLite
  --rounds N       rounds per figure; default: 5 (1 with --quick)
  --agents N       agents of the fleet; default: more and more, until it misses its target
  --seconds S      how long the fleet is measured; default: 30 (5 with --quick)
  --engine NAME    sqlite or postgres; the fleet uses this one only
  --against PATH   another checkout of this repository with the same migrations: the fleet uses its
                   hub and this one in turn, and the table compares them
  --reports        the fleet sends renewals and heartbeats with its output, in reports; that of
                   --against makes single calls, so that --against . compares the two
  --profile PATH   every hub writes a processor profile (.cpuprofile) to this directory
  --dir PATH       directory for the data of servers; default: in bench/
  --write-summary  make the results the latest ones and put the table into RESULTS.md; keeps
                   the previous results of measures that this run does not take.
                   A complete run always does this; others write results/part.*
`;

/** @throws Error with a message for invalid options. */
export function parseOptions(argv: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      brief: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      dir: { type: 'string' },
      agents: { type: 'string' },
      seconds: { type: 'string' },
      against: { type: 'string' },
      engine: { type: 'string' },
      reports: { type: 'boolean', default: false },
      profile: { type: 'string' },
      'write-summary': { type: 'boolean', default: false },
    },
  });
  const named = [...positionals, ...(values.only?.split(',') ?? [])].map(readName);
  const isWhole = named.length === 0 && !values.quick && !values.brief;
  return {
    only: new Set(named.length === 0 ? measureNames : named),
    quick: values.quick,
    brief: values.brief,
    rounds: readNumber('rounds', values.rounds ?? (values.quick ? '1' : '5'), 99),
    isQuoted: isWhole || values['write-summary'],
    dataRoot: values.dir ?? null,
    agents: values.agents === undefined ? null : readNumber('agents', values.agents, 100_000),
    seconds: values.seconds === undefined ? null : readNumber('seconds', values.seconds, 3_600),
    engine: values.engine === undefined ? null : readEngine(values.engine),
    against: values.against === undefined ? null : resolve(values.against),
    usesReports: values.reports,
    profileDir: values.profile === undefined ? null : resolve(values.profile),
  };
}

/** Measures that also have a name in words. */
const words: Readonly<Record<string, MeasureName>> = {
  browser: 'P10',
  fleet: 'P11',
  console: 'P12',
  disk: 'P13',
};

function readName(text: string): MeasureName {
  const name = words[text] ?? measureNames.find((known) => known === text.trim().toUpperCase());
  if (name === undefined) throw new Error(`${text} is not a measure; choose from ${measureNames}.`);
  return name;
}

function readEngine(text: string): Engine {
  const engine = (['sqlite', 'postgres'] as const).find((known) => known === text);
  if (engine === undefined) throw new Error(`--engine must be sqlite or postgres, not ${text}.`);
  return engine;
}

function readNumber(option: string, text: string, max: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new Error(`--${option} must be an integer from 1 to ${max}, not ${text}.`);
}
