import { describeStores } from '../stores.fixture.js';
import { backupContract } from './backup.contract.js';

describeStores(backupContract);
