import { runnerContract } from '../runner.contract.js';
import { LocalGround } from './local-ground.fixture.js';

runnerContract(async () => new LocalGround());
