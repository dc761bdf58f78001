import { InvalidArgumentError } from 'commander';

/** Reads an integer within limits, for an option. */
export function parseInteger(limits: { min: number; max: number }): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || value < limits.min || value > limits.max) {
      throw new InvalidArgumentError(`It takes an integer from ${limits.min} to ${limits.max}.`);
    }
    return value;
  };
}
