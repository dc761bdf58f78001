import { createRequire } from 'node:module';
import type { TSchema } from 'typebox';
import type { Validator } from 'typebox/compile';

const require = createRequire(import.meta.url);
const loadCompiler = (): typeof import('typebox/compile') => require('typebox/compile');

/**
 * Compiles a schema when it is first needed. TypeBox's compiler has 300 files, whose loading takes
 * a sixth of the hub's start; the first request that has fields loads them.
 */
export function compileLater<S extends TSchema>(
  schema: S,
): () => Validator<Record<never, never>, S> {
  let compiled: Validator<Record<never, never>, S> | null = null;
  return () => {
    compiled ??= loadCompiler().Compile(schema);
    return compiled;
  };
}
