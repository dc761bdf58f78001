// The attacker, in a process of its own. It yields to the others somewhat, because in practice it
// is on another machine.
import { constants, getPriority, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerQuestions } from './asking.ts';
import { AttackLine, type Tally } from './attack-line.ts';
import type { AttackerWorld } from './attacker-world.ts';
import { type Attack, attacks } from './attacks.ts';

export interface AttackOrder {
  readonly world: AttackerWorld;
  /** The attacks that run at once. */
  readonly ids: readonly string[];
  readonly ms: number;
}

/** A tenth of a processor for each whole one that the others want. */
const NICENESS = 10;

/** Numbers are unique over all attacks of a run, and so are the references that use them. */
let lastNumber = 0;

/** @returns what the hub answered. */
async function run({ world, ids, ms }: AttackOrder): Promise<Tally> {
  const tally: Tally = {};
  const lines: AttackLine[] = [];
  let isOver = false;
  const repeat = async (attack: Attack, line: AttackLine) => {
    while (!isOver) await attack.step(line, world, ++lastNumber);
  };
  for (const attack of attacks.filter(({ id }) => ids.includes(id))) {
    for (let count = 0; count < attack.lines; count++) {
      const line = new AttackLine(world.target, tally);
      lines.push(line);
      void repeat(attack, line);
    }
  }
  await sleep(ms);
  isOver = true;
  const got = { ...tally };
  // Ends what still waits for an answer.
  for (const line of lines) line.close();
  return got;
}

setPriority(Math.min(getPriority() + NICENESS, constants.priority.PRIORITY_LOW));
answerQuestions(run);
// The starter has ended.
process.once('disconnect', () => process.exit(0));
