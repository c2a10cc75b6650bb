import { describeStores } from '../stores.fixture.js';
import { resourcesContract } from './resources.contract.js';

describeStores(resourcesContract);
