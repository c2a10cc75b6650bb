import { vi } from 'vitest';
import { skipDifferences } from './support/named-differences.js';

/**
 * The suites of the gateway's HTTP server, run against Node's own with the same handler. Where they disagree on
 * purpose, the test is named here with the reason; everything else must agree.
 */
vi.mock('../src/gateway/server/listener.js', () => import('../src/gateway/http/node-listener.fixture.js'));

const HANDLES_ON = 'Node.js handles pipelined requests that it has parsed, also behind the last response';
const OUR_CLOCK = "the test drives the clock of the gateway's own connection";
const DIFFERENCES: Readonly<Record<string, string>> = {
  'a connection ends > with status 400 when the client hangs up in the middle of a request':
    'Node.js drops a client that hangs up in the middle of a body without a response',
  'a connection ends > only after a refused client had time to read the refusal':
    'Node.js does not limit how long a refused client may keep its half of the connection open',
  'a connection ends > only when the client has read its last response': OUR_CLOCK,
  'a body > is discarded after the response, up to a limit': 'Node.js discards any number of bytes',
  'a body > is requested with 100 Continue when the client waits for that':
    'Node.js sends 100 Continue to a client that has already sent its body',
  'pipelined requests > buffer a bounded part of a response before its turn':
    'Node.js buffers up to the high-water mark of a stream',
  'pipelined requests > beyond a limit are not read until responses are sent':
    'Node.js limits the bytes of responses that wait, not the number of requests',
  'pipelined requests > are all closed when the client hangs up, and so are those behind a last response': HANDLES_ON,
  'pipelined requests > are not handled behind a response that closes the connection': HANDLES_ON,
  'pipelined requests > are not handled behind the last response of a port that stops': HANDLES_ON,
  'pipelined requests > are not handled behind a destroyed connection': HANDLES_ON,
  'pipelined requests > have their timeout from their own first byte': OUR_CLOCK,
  'pipelined requests > that time out are refused once, however long the responses before them take': OUR_CLOCK,
  'Listener > refuses "GET / HTTP/1.1\\r\\n\\r\\n" with its reason':
    'Node.js refuses a request without host by itself, with an empty body',
  'Listener > refuses "GET / HTTP/1.1\\r\\nhost: a\\r\\nhost: b\\r\\n\\r\\n" with its reason':
    'Node.js accepts two hosts',
  'Listener > reads nothing more from a connection after an ambiguous request': 'Node.js accepts two hosts',
  'Listener > closes the connection after a request to upgrade':
    'Node.js handles a request to upgrade as any other when no handler is set',
  'Listener that stops > does not wait for a connection before its TLS handshake': 'Node.js waits for the handshake',
  'Listener and slow clients > closes the connection of a client that does not read, TLS: false':
    'Node.js has no timeout for a client that does not read',
  'Listener and slow clients > closes the connection of a client that does not read, TLS: true':
    'Node.js has no timeout for a client that does not read',
};

skipDifferences(DIFFERENCES);

await import('../src/gateway/http/http-connection.test.js');
await import('../src/gateway/http/http-request.test.js');
await import('../src/gateway/http/http-response.test.js');
await import('../src/gateway/http/response-queue.test.js');
await import('../src/gateway/server/listener.test.js');
