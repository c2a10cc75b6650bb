/**
 * Invalid input. Printed as one line: place, problem, hint; the process ends with code 2.
 * Codes are stable: tests and scripts may rely on them, messages may be reworded.
 */
export class InputError extends Error {
  override readonly name = 'InputError';

  constructor(
    readonly code: string,
    /** Where: `trace.csv:14:7 (input_tokens)`, `--tp`, `policy.yaml:3`. */
    readonly place: string,
    readonly problem: string,
    readonly hint: string,
  ) {
    super(`${place}: ${problem}; ${hint}`);
  }
}

/** The input was fine but the work could not be done. Printed as one line; the process ends with code 1. */
export class RunError extends Error {
  override readonly name = 'RunError';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
