import { runnerContract } from '../runner.contract.js';
import { KUBERNETES_EXCEPTIONS, KubernetesGround } from './kubernetes-ground.fixture.js';
import { runnerDrills } from './runner-drills.contract.js';

runnerContract(() => KubernetesGround.inMemory(), KUBERNETES_EXCEPTIONS);
runnerDrills(() => KubernetesGround.inMemory());
