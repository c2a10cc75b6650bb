import { vi } from 'vitest';
import { skipDifferences } from './support/named-differences.js';

/** Suites of whole gateways, run on Node's HTTP server instead of the gateway's own. */
vi.mock('../src/gateway/server/listener.js', () => import('../src/gateway/http/node-listener.fixture.js'));

skipDifferences({
  'what clients do > a body that is too large gets its response while it is still being sent':
    'Node.js discards any number of bytes of a body after its response',
});

await import('./gateway-http.test.js');
await import('./gateway-responses.test.js');
await import('../src/gateway/gateway.test.js');
