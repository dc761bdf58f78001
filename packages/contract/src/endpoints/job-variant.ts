import Type, { type Static } from 'typebox';
import { Nullable, Text } from '../schema.ts';

/** The maximum number of variants of one work. */
export const VARIANTS_MAX = 8;

/** Who tries a variant; null: any tool that fits the job, or the tool's own model. */
export const Variant = Type.Object({
  tool: Type.Optional(Nullable(Text(64, { minLength: 1 }))),
  model: Type.Optional(Nullable(Text(128, { minLength: 1 }))),
});
export type Variant = Static<typeof Variant>;
