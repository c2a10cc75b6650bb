import { request as nodeRequest } from 'node:http';
import { Agent, request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { VALID } from './responses.fixture.js';
import { GET, RawServer, send } from './upstream.fixture.js';

/** Responses that undici does not read as the RFC says, and how. */
const NOT_BY_UNDICI: Record<string, string> = {
  'no reason, no space, odd white space around values': 'white space after a value stays',
  'no body by its status 304, whatever the length says': 'the length is insisted on',
  'interim answers before it': '100 is refused unless it was asked for',
};

interface Read {
  status: number | undefined;
  headers: string[];
  body: string;
}

let server: RawServer;
afterEach(() => server.stop());

async function serving(bytes: string, ends: boolean): Promise<string> {
  server = new RawServer((socket) => {
    socket.write(bytes, 'latin1');
    if (ends) socket.end();
  });
  await server.listen();
  return server.url;
}

async function ours(): Promise<Read> {
  const { status, headers, body, error } = await send(server.pool(), GET).over;
  expect(error).toBeNull();
  return { status, headers, body };
}

/** With a pool of its own: one that tests share may hold a connection to an earlier server on the same port. */
async function byUndici(url: string): Promise<Read> {
  const dispatcher = new Agent();
  try {
    const { statusCode, headers, body } = await request(url, { responseHeaders: 'raw', reset: true, dispatcher });
    const raw = headers as unknown as (string | Buffer)[];
    return {
      status: statusCode,
      headers: raw.map((text) => Buffer.from(text as string, 'latin1').toString('latin1')),
      body: Buffer.from(await body.arrayBuffer()).toString('latin1'),
    };
  } finally {
    await dispatcher.destroy();
  }
}

function byNode(url: string): Promise<Read> {
  return new Promise((resolve, reject) => {
    nodeRequest(url, { agent: false }, (response) => {
      let body = '';
      response.setEncoding('latin1');
      response.on('data', (piece: string) => {
        body += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.rawHeaders, body }));
    })
      .on('error', reject)
      .end();
  });
}

/** Other widely used clients as oracles. */
describe('as Node.js reads it', () => {
  it.each(VALID)('$what', async ({ bytes, untilClose }) => {
    const url = await serving(bytes, untilClose === true);
    expect(await ours()).toEqual(await byNode(url));
  });
});

describe('as undici reads it', () => {
  it.each(VALID.filter(({ what }) => !(what in NOT_BY_UNDICI)))('$what', async ({ bytes, untilClose }) => {
    const url = await serving(bytes, untilClose === true);
    expect(await ours()).toEqual(await byUndici(url));
  });
});
