// Writes to a store without end and says what is safely there: `store-writer.mjs ADDRESS ROUND`. Made to be killed.
import { writeSync } from 'node:fs';
import { openStore } from '../../dist/store/open-store.js';

const [address, round] = process.argv.slice(2);
const store = await openStore(address);
const acknowledge = (...words) => writeSync(1, `${words.join(' ')}\n`);

for (let i = 0; ; i++) {
  const ref = { kind: 'ApiKey', workspace: 'default', name: `${round}-${i}` };
  await store.resources.change('writer', (tx) => tx.put(ref, { spec: { role: 'none', limits: {} }, labels: {} }));
  const { record, secret } = await store.keys.issue(ref, null, 'writer');
  acknowledge('key', record.uid, secret);
  const journal = `${round}-${i}`;
  const row = {
    ...{ keyId: record.uid, model: 'm', endpoint: 'chat', day: '2026-01-01', outcome: 'ok', requests: 1 },
    ...{ inputTokens: 100, cachedTokens: 0, outputTokens: 10, reasoningTokens: 0, estimatedRequests: 0, costNanos: 1 },
    ...{ characters: 0, audioSeconds: 0 },
  };
  await store.usage.fold(journal, [row, { ...row, model: 'n' }]);
  acknowledge('fold', journal);
  if (i % 3 === 0) {
    await store.keys.revoke(ref, 'writer');
    acknowledge('revoked', record.uid);
  }
}
