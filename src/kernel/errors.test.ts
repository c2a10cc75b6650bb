import { describe, expect, it } from 'vitest';
import { InputError, RunError } from './errors.js';

describe('InputError', () => {
  it('prints place, problem and hint in one line', () => {
    const error = new InputError('BAD_VALUE', 'trace.csv:14:7 (input_tokens)', "'x' is no number", 'give a count');
    expect(error.message).toBe("trace.csv:14:7 (input_tokens): 'x' is no number; give a count");
    expect(error).toMatchObject({
      name: 'InputError',
      code: 'BAD_VALUE',
      place: 'trace.csv:14:7 (input_tokens)',
      problem: "'x' is no number",
      hint: 'give a count',
    });
  });

  it('is an Error, and not a RunError', () => {
    const error = new InputError('A', 'b', 'c', 'd');
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(RunError);
  });
});

describe('RunError', () => {
  it('has a code and a message', () => {
    expect(new RunError('DISK_FULL', 'no room left')).toMatchObject({
      name: 'RunError',
      code: 'DISK_FULL',
      message: 'no room left',
    });
  });
});
