import { InvalidArgumentError } from 'commander';

/** Creates an option parser for integers within limits. */
export function parseInteger(limits: { min: number; max: number }): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || value < limits.min || value > limits.max) {
      throw new InvalidArgumentError(`It must be an integer from ${limits.min} to ${limits.max}.`);
    }
    return value;
  };
}
