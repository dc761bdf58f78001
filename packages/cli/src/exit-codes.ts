/** What the command says to the shell that started it. Written out in `signalbox --help`. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unauthorized: 3,
  refused: 4,
  unreachable: 5,
  blocked: 6,
  canceled: 7,
  interrupted: 130,
  outputClosed: 141,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitMeanings: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [exitCodes.ok, 'done'],
  [exitCodes.failed, 'failed, also: the job that was waited for has failed'],
  [exitCodes.usage, 'wrong usage, or a value that cannot be used'],
  [exitCodes.unauthorized, 'not logged in, or the token is not accepted'],
  [exitCodes.refused, 'refused by the hub'],
  [exitCodes.unreachable, 'hub unreachable, unavailable or failing'],
  [exitCodes.blocked, 'the job that was waited for is blocked: a person has to decide'],
  [exitCodes.canceled, 'the job that was waited for was canceled'],
  [exitCodes.interrupted, 'interrupted (Ctrl-C)'],
  [exitCodes.outputClosed, 'whoever read the output has closed it'],
  [exitCodes.terminated, 'ended by SIGTERM'],
];

/** A signal came while a command was at work. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly exitCode: ExitCode;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super('Interrupted.');
    this.exitCode = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
  }
}
