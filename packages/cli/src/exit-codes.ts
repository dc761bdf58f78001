/** Exit codes of the command. `signalbox --help` lists them. */
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
  [exitCodes.failed, 'failed, or the awaited job failed'],
  [exitCodes.usage, 'wrong usage or an invalid value'],
  [exitCodes.unauthorized, 'not logged in, or the token was rejected'],
  [exitCodes.refused, 'rejected by the hub'],
  [exitCodes.unreachable, 'hub unreachable, unavailable or failing'],
  [exitCodes.blocked, 'the awaited job is blocked, or no person has answered yet'],
  [exitCodes.canceled, 'the awaited job was canceled, or the question was dismissed'],
  [exitCodes.interrupted, 'interrupted (Ctrl-C)'],
  [exitCodes.outputClosed, 'the reader of the output closed it'],
  [exitCodes.terminated, 'terminated by SIGTERM'],
];

/** A signal arrived while a command was running. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly exitCode: ExitCode;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super('Interrupted.');
    this.exitCode = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
  }
}
