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

/** Parses an amount of money above zero. */
export function parseAmount(text: string): number {
  const value = Number(text);
  if (!/^\d+(?:\.\d+)?$/.test(text) || value <= 0) {
    throw new InvalidArgumentError('It must be an amount such as 2.50.');
  }
  return value;
}
