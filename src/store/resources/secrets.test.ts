import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSealed, SecretBox, withoutSealed } from './secrets.js';

describe('SecretBox', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'twinyard-secrets-'));
    path = join(folder, 'keys', 'secrets.key');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('creates its key file once, readable by its owner only', () => {
    const sealed = SecretBox.open(path).seal('hf_token', 'here');
    expect([statSync(path).mode & 0o777, statSync(join(folder, 'keys')).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readdirSync(join(folder, 'keys'))).toEqual(['secrets.key']);
    expect(SecretBox.open(path).unseal(sealed, 'here')).toBe('hf_token');
  });

  it('seals the same text differently each time, and reveals nothing of it', () => {
    const box = SecretBox.open(path);
    const [one, two] = [box.seal('secret', 'here'), box.seal('secret', 'here')];
    expect(one).not.toEqual(two);
    expect(JSON.stringify(one)).not.toContain('secret');
    expect(JSON.stringify(box)).not.toContain(readFileSync(path, 'utf8').trim());
    expect(isSealed(one)).toBe(true);
    expect(withoutSealed({ a: [one], b: null, c: 'x' })).toEqual({ a: ['***'], b: null, c: 'x' });
  });

  it('unseals only at the place it was sealed for, and nothing that was altered', () => {
    const box = SecretBox.open(path);
    const { $sealed } = box.seal('secret', 'here');
    expect(() => box.unseal({ $sealed }, 'there')).toThrow('there: a secret in the store is damaged');
    const [version, id, data] = $sealed.split('.');
    // The last character of the text need not count: a byte is altered.
    const altered = Buffer.from(data!, 'base64url');
    altered[altered.length - 1]! ^= 1;
    for (const broken of [
      `${version}.${id}.${altered.toString('base64url')}`,
      `${version}.${id}.AAAA`,
      'v1',
      'v2.a.b',
    ]) {
      expect(() => box.unseal({ $sealed: broken }, 'here')).toThrow(/SECRETS_BROKEN|is damaged/);
    }
  });

  it('reports another key file', () => {
    const sealed = SecretBox.open(path).seal('secret', 'here');
    rmSync(path);
    expect(() => SecretBox.open(path).unseal(sealed, 'here')).toThrow(/is not the key file/);
  });

  it('recognises a text that it has sealed, and treats one it cannot unseal as another', () => {
    const box = SecretBox.open(path);
    const sealed = box.seal('secret', 'here');
    expect([box.holds(sealed, 'secret', 'here'), box.holds(sealed, 'other', 'here')]).toEqual([true, false]);
    expect([box.holds(sealed, 'secret', 'there'), box.holds({ $sealed: 'v1' }, '', 'here')]).toEqual([false, false]);
    rmSync(path);
    expect(SecretBox.open(path).holds(sealed, 'secret', 'here')).toBe(false);
  });

  it('refuses a key file that others may read, that holds no key, or that cannot be created', () => {
    SecretBox.open(path);
    chmodSync(path, 0o640);
    expect(() => SecretBox.open(path)).toThrow(/others may read it; run 'chmod 600/);
    rmSync(path);
    writeFileSync(path, 'no key', { mode: 0o600 });
    expect(() => SecretBox.open(path)).toThrow(/holds no key/);
    rmSync(path);
    mkdirSync(path);
    expect(() => SecretBox.open(path)).toThrow(/cannot be used \(is a folder\)/);
    expect(() => SecretBox.open(join(folder, 'keys', 'secrets.key', 'x', 'y'))).not.toThrow();
  });

  it('reports a folder that cannot be created', ({ skip }) => {
    skip(!existsSync('/proc/self'), 'there is no /proc here');
    expect(() => SecretBox.open('/proc/twinyard/secrets.key')).toThrow(/cannot be used \(its folder does not exist\)/);
  });
});
