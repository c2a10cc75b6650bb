// The limits of a gateway in a separate process: joins the store, reports it, and on input reserves one token
// repeatedly, many at a time. Prints how many reservations succeeded. Run by test/two-gateways.test.ts.
import { once } from 'node:events';
import { Access } from '../../dist/gateway/access/access.js';
import { openStore } from '../../dist/store/open-store.js';

const [address, keyText, times] = process.argv.slice(2);
const AT_A_TIME = 25;
const config = {
  keys: 'required',
  onStoreFailure: 'closed',
  refreshMs: 1000,
  wrongKeysPerMinute: 30,
  defaultOutputTokens: 1,
};

const store = await openStore(address);
const began = Date.now() - performance.now();
const access = await Access.open({ store, config, prices: [], nowMs: () => began + performance.now() });
const key = access.check(`Bearer ${keyText}`, undefined, '127.0.0.1');

/** One request: the reservation, null when it was over the limit; anything else that goes wrong fails the test. */
const reserve = () =>
  new Promise((resolve, reject) => {
    access.reserve(key, 'm', 1, 0, {
      reserved: (reservation, refusal) => {
        if (refusal === null || refusal.status === 429) resolve(reservation);
        else reject(refusal);
      },
    });
  });

process.stdout.write('ready\n');
await once(process.stdin, 'data');
let left = Number(times);
let admitted = 0;
async function client() {
  while (left-- > 0) {
    const reservation = await reserve();
    if (reservation === null) continue;
    admitted++;
    access.settle(reservation, { inputTokens: 1, cachedTokens: 0, outputTokens: 0 });
  }
}
await Promise.all(Array.from({ length: AT_A_TIME }, client));
process.stdout.write(`${JSON.stringify({ admitted, mode: access.counts.mode })}\n`);
await once(process.stdin, 'end');
await access.close();
await store.close();
