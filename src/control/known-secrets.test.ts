import { describe, expect, it } from 'vitest';
import { KnownSecrets } from './known-secrets.js';

const known = (...secrets: string[]) => {
  const all = new KnownSecrets();
  for (const one of secrets) all.add(one);
  return all;
};

describe('known secrets', () => {
  it('are removed from a line, wherever and however often they are in it', () => {
    const { scrub } = known('hf_0123456789', 'hf_01234567891');
    expect(scrub('a hf_0123456789 b hf_01234567891 c hf_0123456789')).toBe('a *** b *** c ***');
    expect(scrub('hf_0123456799')).toBe('hf_0123456799');
  });

  it('are removed in the forms that logs and URLs have', () => {
    const secret = 'p"ss word/+123';
    const { scrub } = known(secret);
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), btoa(secret)];
    for (const form of forms) expect(scrub(`x=${form};`), form).toBe('x=***;');
  });

  it('of several lines are removed line by line', () => {
    const { scrub } = known('-----BEGIN KEY-----\nabcdefghijklmnop\n-----END KEY-----\n');
    expect(scrub('abcdefghijklmnop')).toBe('***');
  });

  it('are removed where a line was cut inside one, wherever that was from its 8th character on', () => {
    const secret = 'the-admin-token-of-this-server';
    const { scrub } = known(secret);
    for (let end = 8; end < secret.length; end++) expect(scrub(`token ${secret.slice(0, end)}`)).toBe('token ***');
  });

  it('include API keys, by their form', () => {
    const key = `ty_${'a1'.repeat(6)}_${'x-_9'.repeat(10)}abc`;
    expect(known().scrub(`bearer ${key}, ${key.slice(0, 30)}`)).toBe('bearer ***, ***');
  });

  it('of less than 8 characters are left alone', () => {
    expect(known('short').scrub('a short line')).toBe('a short line');
  });

  it('are those that a box decrypts: what was only sent, as by a dry run, changes no log', () => {
    const all = new KnownSecrets();
    const sealed = { $sealed: '1' };
    const box = all.remembering({ seal: () => sealed, unseal: () => 'decrypted-one', holds: () => false });
    box.seal('encrypted-one', 'x');
    box.unseal(sealed, 'x');
    box.holds(sealed, 'compared-one', 'x');
    expect(all.scrub('encrypted-one decrypted-one compared-one')).toBe('encrypted-one *** compared-one');
  });

  it('that begin alike by the thousands take no longer, and hide what follows to the end of the line', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `same-beginning-${i}`);
    const { scrub } = known(...many, 'another-secret');
    expect(scrub('a same-beginning-19999 b')).toBe('a ***');
    expect(scrub('an another-secret b')).toBe('an *** b');
    expect(scrub('a different line')).toBe('a different line');
  });
});
