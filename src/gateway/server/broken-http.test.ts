import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { answerBroken } from './broken-http.js';

/** A connection that keeps what is written to it. */
class Wire extends Duplex {
  text = '';
  _httpMessage: { headersSent: boolean } | undefined;
  override _read(): void {}
  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk;
    done();
  }
  destroySoon(): void {
    this.destroy();
  }
}

const errorOf = (code: string) => Object.assign(new Error('what the parser says'), { code });

describe('answerBroken', () => {
  it.each([
    ['HPE_INVALID_METHOD', 400, null, 'not valid HTTP: what the parser says'],
    ['HPE_HEADER_OVERFLOW', 431, 'headers_too_large', 'larger than this gateway takes'],
    ['ERR_HTTP_REQUEST_TIMEOUT', 408, 'request_timeout', 'did not come in time'],
  ])('answers %s with %i', (code, status, name, message) => {
    const wire = new Wire();
    expect(answerBroken(errorOf(code), wire as never)).toBe(status);
    const [head = '', body = ''] = wire.text.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`));
    expect(JSON.parse(body)).toMatchObject({ error: { code: name, message: expect.stringContaining(message) } });
    expect(wire.destroyed).toBe(true);
  });

  it('says nothing to nobody, and nothing into an answer', () => {
    const gone = new Wire();
    expect([answerBroken(errorOf('ECONNRESET'), gone as never), gone.text, gone.destroyed]).toEqual([null, '', true]);
    const busy = new Wire();
    busy._httpMessage = { headersSent: true };
    expect([answerBroken(errorOf('HPE_X'), busy as never), busy.text, busy.destroyed]).toEqual([null, '', true]);
    const closed = new Wire();
    closed.end();
    expect([answerBroken(errorOf('HPE_X'), closed as never), closed.text]).toEqual([null, '']);
  });
});
