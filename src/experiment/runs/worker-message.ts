import { InputError, RunError } from '../../kernel/errors.js';

/** The response of a worker, the result as bytes: errors as plain data, because a thread's copy of an error has lost its class. */
export type WorkerResponse = { result: string } | { error: PlainError };

export interface PlainError {
  kind: 'input' | 'run' | 'other';
  code: string;
  place: string;
  problem: string;
  hint: string;
}

export function plainError(error: unknown): PlainError {
  const nothing = { code: '', place: '', hint: '' };
  if (error instanceof InputError) {
    const { code, place, problem, hint } = error;
    return { kind: 'input', code, place, problem, hint };
  }
  if (error instanceof RunError) return { ...nothing, kind: 'run', code: error.code, problem: error.message };
  return { ...nothing, kind: 'other', problem: error instanceof Error ? error.message : String(error) };
}

/** The error as it was thrown. */
export function thrownError({ kind, code, place, problem, hint }: PlainError): Error {
  if (kind === 'input') return new InputError(code, place, problem, hint);
  return kind === 'run' ? new RunError(code, problem) : new Error(problem);
}
