import { describe, expect, it } from 'vitest';
import { until } from '../fake-engine.fixture.js';
import { bare, Client, get, port, post, reply } from './http-port.fixture.js';
import type { HttpResponse } from './http-response.js';

describe('a body', () => {
  it('is not read before the handler collects it', async () => {
    let ask: (() => void) | null = null;
    let got = '';
    const { listener } = await port((request, response) => {
      ask = () =>
        request.collect(1_000_000, (body) => {
          got = body!.toString();
          reply(response, 'thanks');
        });
    });
    const body = 'x'.repeat(300_000);
    const client = new Client(listener).send(post(body).slice(0, 200));
    client.send(post(body).slice(200));
    await until(() => ask !== null);
    expect(client.text).toBe('');
    ask!();
    await client.has(/thanks/);
    expect(got).toBe(body);
  });

  it('is discarded after the response, up to a limit', async () => {
    const { listener } = await port((request, response) => reply(response, `no ${request.url}`));
    const client = new Client(listener);
    client.send(post('x'.repeat(90_000)) + get('/next'));
    await client.has(/no \/next/);
    client.send(post('x'.repeat(100_001)));
    expect((await client.closed()).match(/no \/(next)?/g)).toEqual(['no /', 'no /next', 'no /']);
  });

  it('is requested with 100 Continue when the client waits for that', async () => {
    const { listener } = await port((request, response) => {
      if (request.header('x-no') !== undefined) reply(response, 'no', 403);
      else request.collect(10, (body) => reply(response, body === null ? 'too large' : `got ${body}`));
    });
    const expecting = 'Expect: 100-Continue\r\n';
    const client = new Client(listener).send(post('hello', expecting).slice(0, -5));
    expect(await client.has(/\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.send('hello');
    await client.has(/got hello/);
    // A client that sends the body without waiting gets no 100 Continue.
    client.text = '';
    client.send(post('again', expecting));
    expect(await client.has(/got again/)).toMatch(/^HTTP\/1\.1 200 /);
    client.text = '';
    client.send(post('hello', `${expecting}x-no: 1\r\n`).slice(0, -5));
    expect(bare(await client.closed())).toMatch(/^HTTP\/1\.1 403 Forbidden\r\nconnection: close\r\n[\s\S]*\r\n\r\nno$/);
  });

  it('is refused with 417 when the client expects anything else', async () => {
    let asked = 0;
    const { listener, refused } = await port(() => asked++);
    const client = new Client(listener).send(post('hello', 'expect: 200-ok\r\n').slice(0, -5));
    expect(bare(await client.closed())).toMatch(/^HTTP\/1\.1 417 [^{]*\r\nconnection: close\r\n[^{]*\r\n\r\n[^\r]*$/);
    expect([asked, refused]).toEqual([0, [417]]);
  });

  it('of a pipelined request is requested in its turn', async () => {
    const due: HttpResponse[] = [];
    const { listener } = await port((request, response) => {
      if (request.method === 'GET') due.push(response);
      else request.collect(10, (body) => reply(response, `got ${body}`));
    });
    const client = new Client(listener).send(get('/') + post('hello', 'expect: 100-continue\r\n').slice(0, -5));
    await until(() => due.length === 1);
    reply(due[0]!, 'first');
    expect(await client.has(/100 Continue\r\n\r\n/)).toMatch(/firstHTTP\/1\.1 100 Continue\r\n\r\n$/);
    client.send('hello');
    await client.has(/got hello/);
  });
});
