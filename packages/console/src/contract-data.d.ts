declare module 'virtual:contract-data' {
  import type {
    consoleEndpoints,
    ErrorCode,
    JobKind,
    JobStatus,
    mirroredEndpoints,
  } from '@signalbox/contract';

  type Rows = typeof consoleEndpoints & typeof mirroredEndpoints;

  /** Where the console calls each row, by noun and action. */
  export const endpointPaths: {
    readonly [Noun in keyof Rows]: { readonly [Action in keyof Rows[Noun]]: string };
  };
  export const jobKinds: readonly JobKind[];
  export const jobStatuses: readonly JobStatus[];
  export const passwordCharsMin: number;
  export const passwordCharsMax: number;
  /** When each code is answered, one sentence. */
  export const errorConditions: Readonly<Record<ErrorCode, string>>;
}
