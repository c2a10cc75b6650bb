import { keyClassesContract } from './keys/key-classes.contract.js';
import { keysContract } from './keys/keys.contract.js';
import { savedResultsContract } from './lab/saved-results.contract.js';
import { keptRequestsContract } from './requests/kept-requests.contract.js';
import { removedWorkspacesContract } from './resources/removed-workspaces.contract.js';
import { storeContract } from './store.contract.js';
import { describeStores } from './stores.fixture.js';
import { usageContract } from './usage/usage.contract.js';

describeStores((stores) => {
  storeContract(stores);
  keysContract(stores);
  keyClassesContract(stores);
  usageContract(stores);
  keptRequestsContract(stores);
  savedResultsContract(stores);
  removedWorkspacesContract(stores);
});
