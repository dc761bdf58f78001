import type { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/text.ts';

export interface TokenChoice {
  keepTokens?: true;
}

export function addTokenChoice(program: Command): void {
  program.option('--keep-tokens', 'keep the service tokens that the person minted');
}

/** Says what became of the service tokens that a person minted. */
export function noteTokens(io: Io, tokens: readonly { name: string; revoked: boolean }[]): void {
  const names = (isRevoked: boolean) =>
    tokens.filter(({ revoked }) => revoked === isRevoked).map(({ name }) => oneLine(name));
  const [revoked, kept] = [names(true), names(false)];
  if (revoked.length > 0) io.note(`Revoked the service tokens they minted: ${revoked.join(', ')}`);
  if (kept.length > 0) io.note(`Service tokens they minted still work: ${kept.join(', ')}`);
}
