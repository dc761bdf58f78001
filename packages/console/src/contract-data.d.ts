declare module 'virtual:contract-data' {
  import type {
    consoleEndpoints,
    ErrorCode,
    JobKind,
    JobStatus,
    mirroredEndpoints,
  } from '@signalbox/contract';

  type Rows = typeof consoleEndpoints & typeof mirroredEndpoints;

  /** The path of each endpoint, by group and action. */
  export const endpointPaths: {
    readonly [Group in keyof Rows]: { readonly [Action in keyof Rows[Group]]: string };
  };
  /** The path of `jobs/enqueue` for programs. */
  export const enqueuePath: string;
  export const attachmentsMax: number;
  export const variantsMax: number;
  export const uploadBytesMax: number;
  export const jobKinds: readonly JobKind[];
  export const jobStatuses: readonly JobStatus[];
  export const knownRunStatuses: readonly string[];
  export const passwordCharsMin: number;
  export const passwordCharsMax: number;
  /** The condition of each error code, in one sentence. */
  export const errorConditions: Readonly<Record<ErrorCode, string>>;
}
