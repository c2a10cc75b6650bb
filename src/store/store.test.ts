import { keysContract } from './keys.contract.js';
import { storeContract } from './store.contract.js';
import { describeStores } from './stores.contract.js';
import { usageContract } from './usage.contract.js';

describeStores((stores) => {
  storeContract(stores);
  keysContract(stores);
  usageContract(stores);
});
