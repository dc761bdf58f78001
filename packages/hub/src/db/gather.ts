import { assert } from '../errors.ts';
import type { Gathering, Tx } from './engine.ts';

/** Gathered work for an action that has no company. */
export async function gatherOne<Input, Output>(
  tx: Tx,
  work: Gathering<Input, Output>,
  input: Input,
): Promise<Output> {
  const outputs = await work.run(tx, [input]);
  assert(outputs.length === 1, 'gathered work has an output for each input');
  // Of length one, whatever an Output is.
  return outputs[0] as Output;
}
