import type { Format } from './document-format.ts';

/** What a thread is started with, and what it answers. */
export interface ExtractionOrder {
  path: string;
  format: Format;
  charsMax: number;
}

/** Why a document has no text; stable words, kept in the table. */
export type ExtractFailure =
  | 'malformed'
  | 'encrypted'
  | 'wrong_content_type'
  | 'too_large'
  | 'too_deep'
  | 'timed_out'
  | 'out_of_memory'
  | 'attempts_exhausted';

export interface ExtractedText {
  text: string;
  /** The document holds more than that. */
  truncated: boolean;
}

export type ExtractOutcome = ExtractedText | { failure: ExtractFailure };

/** What a format's reader gives; text beyond `charsMax` is cut off by its caller. */
export interface ReadText {
  text: string;
  /** Whether the reader itself left something out. */
  truncated: boolean;
}

/** A document whose text cannot be had, and why. */
export class ExtractError extends Error {
  readonly failure: ExtractFailure;

  constructor(failure: ExtractFailure) {
    super(failure);
    this.failure = failure;
  }
}
