import { expect } from 'vitest';
import { runnerContract } from '../runner.contract.js';
import { KUBERNETES_EXCEPTIONS, KubernetesGround } from './kubernetes-ground.fixture.js';
import { runnerDrills } from './runner-drills.contract.js';

/** Against recordings that `npm run test:kube -- --record` makes of the same suite in a real cluster. */
const ground = () => KubernetesGround.recorded(expect.getState().currentTestName!);

runnerContract(ground, KUBERNETES_EXCEPTIONS);
runnerDrills(ground);
