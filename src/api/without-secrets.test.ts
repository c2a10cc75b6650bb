import { describe, expect, it } from 'vitest';
import { withoutSecrets } from './without-secrets.js';

describe('withoutSecrets', () => {
  it.each([
    ['postgres://user:planted@db:5432/keys', 'postgres://user:***@db:5432/keys'],
    ['postgres://user:pl@nted@db/keys', 'postgres://user:***@db/keys'],
    ['postgres://user:pl:an/t?e#d@db/keys', 'postgres://user:***@db/keys'],
    ['postgres://db/keys?user=u&password=planted', 'postgres://db/keys?***'],
    ['https://planted@collector:4318/v1?key=planted#planted', 'https://***@collector:4318/v1?***'],
    ['http://127.0.0.1:9001', 'http://127.0.0.1:9001'],
    ['/var/lib/twinyard.db', '/var/lib/twinyard.db'],
    ['prefix-affinity:3,queue-depth:2', 'prefix-affinity:3,queue-depth:2'],
    ['', ''],
  ])('%s becomes %s', (text, shown) => {
    expect(withoutSecrets(text)).toBe(shown);
  });

  it('finds them wherever they are, and leaves the rest', () => {
    const config = { store: 'postgres://u:planted@h/d', a: [{ url: 'http://planted@h' }], n: 5, no: null, is: true };
    expect(withoutSecrets(config)).toEqual({
      store: 'postgres://u:***@h/d',
      a: [{ url: 'http://***@h' }],
      n: 5,
      no: null,
      is: true,
    });
    expect(config.store).toBe('postgres://u:planted@h/d');
  });
});
