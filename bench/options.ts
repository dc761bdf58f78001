import { parseArgs } from 'node:util';

/** The measures of this bench; each is a row of the table of targets. */
export const measureNames = [
  ...(['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9', 'P11', 'P12'] as const),
] as const;
export type MeasureName = (typeof measureNames)[number];

export interface Options {
  readonly only: ReadonlySet<MeasureName>;
  /** Small numbers and short times, as a functional check; the figures are not to be quoted. */
  readonly quick: boolean;
  readonly rounds: number;
  /** Whether the results are quoted in RESULTS.md: for a complete run, or on request. */
  readonly isQuoted: boolean;
  /** Directory for the data of measured servers; must be on a real disk. */
  readonly dataRoot: string | null;
}

export const usage = `npm run bench -- [options]

  attack           the same as --only P11
  limiter          the same as --only P12
  --only P1,P4     only these measures, of P1 to P9, P11 and P12
  --quick          small numbers and short times; takes at most two minutes
  --rounds N       rounds per figure; default: 5 (1 with --quick)
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
      rounds: { type: 'string' },
      dir: { type: 'string' },
      'write-summary': { type: 'boolean', default: false },
    },
  });
  const named = [...positionals, ...(values.only?.split(',') ?? [])].map(readName);
  const isWhole = named.length === 0 && !values.quick;
  return {
    only: new Set(named.length === 0 ? measureNames : named),
    quick: values.quick,
    rounds: readRounds(values.rounds ?? (values.quick ? '1' : '5')),
    isQuoted: isWhole || values['write-summary'],
    dataRoot: values.dir ?? null,
  };
}

/** Measures that also have a name in words. */
const words: Readonly<Record<string, MeasureName>> = { attack: 'P11', limiter: 'P12' };

function readName(text: string): MeasureName {
  const name = words[text] ?? measureNames.find((known) => known === text.trim().toUpperCase());
  if (name === undefined) throw new Error(`${text} is not a measure; choose from ${measureNames}.`);
  return name;
}

function readRounds(text: string): number {
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= 99) return rounds;
  throw new Error(`--rounds must be an integer from 1 to 99, not ${text}.`);
}
