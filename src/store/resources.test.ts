import { backupContract } from './backup.contract.js';
import { resourcesContract } from './resources.contract.js';
import { describeStores } from './stores.fixture.js';

describeStores((stores) => {
  resourcesContract(stores);
  backupContract(stores);
});
