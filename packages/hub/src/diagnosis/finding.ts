/** Larger databases take minutes to check; `signalbox verify` does it. */
export const CHECKED_BYTES_MAX = 1_073_741_824;

/** The result of one check: a line of what is there, or of what to do. */
export interface Finding {
  name: string;
  /** `warning`: the hub works, but not as safely as it could. */
  state: 'ok' | 'warning' | 'wrong';
  message: string;
}

/** A check whose failure is a finding: the message of the error says what to do. */
export async function check(
  name: string,
  run: () => Promise<Omit<Finding, 'name'>>,
): Promise<Finding> {
  try {
    return { name, ...(await run()) };
  } catch (error) {
    return { name, state: 'wrong', message: (error as Error).message };
  }
}
