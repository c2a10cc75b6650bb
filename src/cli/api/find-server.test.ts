import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTestFolder } from '../test-folder.fixture.js';
import { findServer } from './find-server.js';

const HERE = { url: 'http://127.0.0.1:8081', token: 'here' };
/** As it is found when nothing is named. */
const RECORDED = { ...HERE, recordedIn: join('.twinyard', 'admin.json') };
const NOTHING = { server: null, token: null, 'data-dir': null };

inTestFolder(() => {
  for (const [folder, text] of [
    ['.twinyard', JSON.stringify({ ...HERE, url: 'http://127.0.0.1:8081/' })],
    ['broken', '{'],
    ['odd', 'null'],
    ['wrong', '{"url": "x", "token": "y"}'],
  ] as const) {
    mkdirSync(folder);
    writeFileSync(`${folder}/admin.json`, text);
  }
  mkdirSync('folder/admin.json', { recursive: true });
});

describe('the server', () => {
  it('is the local gateway, unless another is named', () => {
    expect(findServer(NOTHING, { env: {} })).toEqual(RECORDED);
    const env = { TWINYARD_SERVER: 'https://there:1/', TWINYARD_TOKEN: 't' };
    expect(findServer(NOTHING, { env })).toEqual({ url: 'https://there:1', token: 't' });
    expect(findServer({ ...NOTHING, server: 'http://flag', token: 'f' }, { env })).toEqual({
      url: 'http://flag',
      token: 'f',
    });
  });

  it('gets the token of the gateway here only if it is that gateway', () => {
    expect(findServer({ ...NOTHING, server: HERE.url }, { env: {} })).toEqual(HERE);
    expect(findServer({ ...NOTHING, token: 'key' }, { env: {} })).toEqual({ ...RECORDED, token: 'key' });
    for (const server of ['http://127.0.0.1:8082', 'http://127.0.0.1.evil:8081', 'https://127.0.0.1:8081']) {
      expect(() => findServer({ ...NOTHING, server }, { env: {} })).toThrow(
        `--token: is required for ${server}; give it, or set TWINYARD_TOKEN`,
      );
    }
  });

  it.each([
    [{ 'data-dir': 'none' }, "no gateway runs here (no none/admin.json): start 'twinyard serve'"],
    [{ 'data-dir': '.twinyard/admin.json' }, 'no gateway runs here'],
    [{ 'data-dir': 'broken' }, 'broken/admin.json: does not name a gateway and its token'],
    [{ 'data-dir': 'odd' }, 'odd/admin.json: does not name a gateway and its token'],
    [{ 'data-dir': 'wrong' }, 'wrong/admin.json: does not name a gateway and its token'],
    [{ 'data-dir': 'folder' }, 'folder/admin.json: does not name a gateway and its token'],
    [{ server: 'here' }, "--server: 'here' is not a URL; give one such as http://127.0.0.1:8081"],
    [{ server: 'ftp://here' }, 'is not an http or https URL'],
    [{ server: 'http://here/api' }, 'has a path'],
  ])('%j is refused', (values, message) => {
    expect(() => findServer({ ...NOTHING, ...values }, { env: {} })).toThrow(message);
  });

  it('of the environment is named so in messages', () => {
    expect(() => findServer(NOTHING, { env: { TWINYARD_SERVER: 'x' } })).toThrow("TWINYARD_SERVER: 'x' is not a URL");
  });
});
