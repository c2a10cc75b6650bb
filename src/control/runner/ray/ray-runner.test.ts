import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { runnerContract } from '../runner.contract.js';
import { RayReplayGround } from './ray-ground.fixture.js';
import { readRecorded } from './ray-recording.fixture.js';

/** What `npm run test:ray -- --record` has recorded of a real Ray cluster, by the title of the test. */
const recorded = readRecorded(readFileSync(new URL('recorded-exchanges.json', import.meta.url), 'utf8'));

runnerContract(async () => new RayReplayGround(recorded.get(titleOf()) ?? []), {
  environment: 'no engine runs in a replay; npm run test:ray checks it',
  'log-times': 'the times of a recording have passed; npm run test:ray checks them',
});

const titleOf = () => expect.getState().currentTestName!.split(' > ').at(-1)!;
