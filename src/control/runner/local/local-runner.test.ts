import { runnerContract } from '../runner.contract.js';
import { LocalGround } from './local-ground.contract.js';

runnerContract(async () => new LocalGround());
