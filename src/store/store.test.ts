import { keyClassesContract } from './key-classes.contract.js';
import { keysContract } from './keys.contract.js';
import { storeContract } from './store.contract.js';
import { describeStores } from './stores.fixture.js';
import { usageContract } from './usage.contract.js';

describeStores((stores) => {
  storeContract(stores);
  keysContract(stores);
  keyClassesContract(stores);
  usageContract(stores);
});
