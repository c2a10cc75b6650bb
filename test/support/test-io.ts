import type { CliIo } from '../../src/cli/io.js';

/** A command's surroundings that keep what it writes. */
export function testIo(): CliIo & { stdoutText(): string; stderrText(): string } {
  let out = '';
  let err = '';
  return {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    env: {},
    now: () => 0,
    beforeSignal: () => {},
    stdoutText: () => out,
    stderrText: () => err,
  };
}
