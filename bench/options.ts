import { parseArgs } from 'node:util';

/** The measures of this bench; each is a row of the table of targets. */
export const measureNames = ['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9'] as const;
export type MeasureName = (typeof measureNames)[number];

export interface Options {
  readonly only: ReadonlySet<MeasureName>;
  /** Small numbers and short times: to see that all of it works, not to quote. */
  readonly quick: boolean;
  readonly rounds: number;
  /** The results become those that README.md quotes: of a whole run, or when asked for. */
  readonly isQuoted: boolean;
  /** Where the data of servers lies while they are measured; on a real disk. */
  readonly dataRoot: string | null;
}

export const usage = `npm run bench -- [options]

  --only P1,P4     only these of P1 to P9
  --quick          small numbers, short times; ends within two minutes
  --rounds N       rounds of each figure, 5 unless told (1 with --quick)
  --dir PATH       where the data of servers lies meanwhile; default: under bench/
  --write-readme   make the results the latest ones and put the table into README.md, beside
                   what the run before says of measures that this one does not take;
                   a whole run does so by itself, others write results/part.*
`;

/** @throws Error with a sentence for options that are none. */
export function parseOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      dir: { type: 'string' },
      'write-readme': { type: 'boolean', default: false },
    },
  });
  const isWhole = values.only === undefined && !values.quick;
  return {
    only: new Set(values.only === undefined ? measureNames : values.only.split(',').map(readName)),
    quick: values.quick,
    rounds: readRounds(values.rounds ?? (values.quick ? '1' : '5')),
    isQuoted: isWhole || values['write-readme'],
    dataRoot: values.dir ?? null,
  };
}

function readName(text: string): MeasureName {
  const name = measureNames.find((known) => known === text.trim().toUpperCase());
  if (name === undefined) throw new Error(`${text} is no measure; there are ${measureNames}.`);
  return name;
}

function readRounds(text: string): number {
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= 99) return rounds;
  throw new Error(`--rounds takes a number from 1 to 99, not ${text}.`);
}
