import { expect, test } from 'vitest';
import { ENGINE } from '../src/cli/serve/engine.js';
import { flags } from '../src/engines/emulator/flags.fixture.js';

test('the flags of the emulator are those of twinyard engine', () => {
  const listed = flags.v1!.trim().split(/\s+/);
  const command = ENGINE.groups.flatMap((group) => Object.keys(group.flags));
  expect(listed.filter((flag) => !command.includes(flag))).toEqual([
    'max-num-running-reqs',
    'max-num-scheduled-tokens',
  ]);
  expect(command.filter((flag) => !listed.includes(flag))).toEqual([]);
});
