import type { DocumentFormat } from './document-format.ts';

/** The document and limit that an extraction thread is started with. */
export interface ExtractionOrder {
  path: string;
  format: DocumentFormat;
  charsMax: number;
  /** Whether secrets in the text are redacted, in the thread. */
  redacts: boolean;
}

/** Why a document has no text. The table stores these values, so they must not change. */
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
  /** Whether the document contains more text. */
  truncated: boolean;
}

export type ExtractOutcome = ExtractedText | { failure: ExtractFailure };

/** The result of a format's reader. Its caller cuts text beyond `charsMax`. */
export interface ReadText {
  text: string;
  /** Whether the reader itself omitted a part. */
  truncated: boolean;
}

/** The text of a document cannot be extracted, for the given reason. */
export class ExtractError extends Error {
  readonly failure: ExtractFailure;

  constructor(failure: ExtractFailure) {
    super(failure);
    this.failure = failure;
  }
}
