import { describe, expect, it } from 'vitest';
import type { RequestHandler } from '../server/listener.js';
import { bare, Client, get, port, reply } from './http-port.fixture.js';

describe('a response', () => {
  const streamed: RequestHandler = (_, response) => {
    response.writeHead(200, ['x-a', 'b']);
    response.write('one');
    response.write('');
    response.write(Buffer.from('twó'));
    response.end();
    response.end('again');
    response.write('again');
    response.writeHead(500, []);
  };

  it('has one date: the one given, or the current one', async () => {
    const made = 'Thu, 01 Jan 1970 00:00:00 GMT';
    const { listener } = await port(({ url }, response) => {
      response.writeHead(204, url === '/old' ? ['Date', made] : []);
      response.end();
    });
    const text = await new Client(listener).send(get('/old') + get('/', 'connection: close\r\n')).closed();
    expect(text.match(/^date: .*(?=\r$)/gim)).toEqual([`Date: ${made}`, expect.stringMatching(/^date: .* GMT$/i)]);
    expect(text.match(/^date: .* 1970/gim)).toHaveLength(1);
  });

  it('without a content-length is chunked', async () => {
    const { listener } = await port(streamed);
    const client = new Client(listener).send(get('/') + get('/', 'connection: close\r\n'));
    const [first, second] = bare(await client.closed()).split(/(?<=0\r\n\r\n)/);
    const chunks = '3\r\none\r\n4\r\ntw\xc3\xb3\r\n0\r\n\r\n';
    const head = (connection: string) =>
      bare(`HTTP/1.1 200 OK\r\nx-a: b\r\ntransfer-encoding: chunked\r\nconnection: ${connection}\r\n\r\n`);
    expect(first).toBe(head('keep-alive') + chunks);
    expect(second).toBe(head('close') + chunks);
  });

  it('to HTTP/1.0 without a content-length ends with the connection', async () => {
    const { listener } = await port(streamed);
    const client = new Client(listener).send(get('/', 'connection: keep-alive\r\n', '1.0'));
    expect(bare(await client.closed())).toBe(
      bare('HTTP/1.1 200 OK\r\nx-a: b\r\nconnection: close\r\n\r\nonetw\xc3\xb3'),
    );
  });

  it('to HTTP/1.0 with a content-length keeps the connection if the client requests it', async () => {
    const { listener } = await port((_, response) => reply(response, 'ok'));
    const client = new Client(listener).send(get('/', 'connection: keep-alive\r\n', '1.0') + get('/', '', '1.0'));
    const answer = (connection: string) =>
      bare(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: ${connection}\r\n\r\nok`);
    expect(bare(await client.closed())).toBe(answer('keep-alive') + answer('close'));
  });

  it('to HEAD, or with status 204 or 304, has no body', async () => {
    const { listener } = await port((request, response) => {
      if (request.method === 'HEAD') reply(response, 'never');
      else {
        response.writeHead(Number(request.url.slice(1)), []);
        response.end('never');
      }
    });
    const client = new Client(listener);
    client.send(get('/').replace('GET', 'HEAD') + get('/204') + get('/304') + get('/599', 'connection: close\r\n'));
    expect(bare(await client.closed())).toBe(
      bare(
        [
          'HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: keep-alive\r\n\r\n',
          'HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n',
          'HTTP/1.1 304 Not Modified\r\nconnection: keep-alive\r\n\r\n',
          'HTTP/1.1 599 unknown\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n5\r\nnever\r\n0\r\n\r\n',
        ].join(''),
      ),
    );
  });

  it('larger than any buffer arrives complete, with back-pressure', async () => {
    const piece = Buffer.alloc(200_000, 'x');
    let waits = 0;
    const { listener } = await port((_, response) => {
      response.writeHead(200, []);
      let left = 40;
      const more = () => {
        while (left-- > 0) {
          if (response.write(piece)) continue;
          waits++;
          expect(response.isBehind).toBe(true);
          response.onDrain = more;
          return;
        }
        response.end(piece);
      };
      more();
    });
    const client = new Client(listener).send(get('/', 'connection: close\r\n'));
    const text = await client.closed();
    const body = text.slice(text.indexOf('\r\n\r\n') + 4);
    expect(body).toBe(`30d40\r\n${piece}\r\n`.repeat(41).concat('0\r\n\r\n'));
    expect(waits).toBeGreaterThan(0);
  });

  it('with an illegal header is not sent at all', async () => {
    for (const size of [1, 100_000]) {
      const { faults, listener } = await port((_, response) => {
        response.writeHead(200, ['x-a', 'b\r\nset-cookie: evil']);
        response.end('x'.repeat(size));
      });
      expect(await new Client(listener).send(get('/')).closed()).toBe('');
      expect(faults).toEqual([expect.any(Error)]);
    }
  });
});
