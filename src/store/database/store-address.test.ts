import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { absoluteAddress, storeAddress, storeFile } from './store-address.js';

describe('storeAddress', () => {
  it.each([
    ['twinyard.db', { kind: 'sqlite', path: resolve('twinyard.db'), shown: 'twinyard.db' }],
    ['sqlite:keys/a.db', { kind: 'sqlite', path: resolve('keys/a.db'), shown: 'keys/a.db' }],
    ['sqlite://a.db', { kind: 'sqlite', path: resolve('a.db'), shown: 'a.db' }],
    ['SQLITE://keys/a.db', { kind: 'sqlite', path: resolve('keys/a.db'), shown: 'keys/a.db' }],
    ['sqlite:///srv/a.db', { kind: 'sqlite', path: '/srv/a.db', shown: '/srv/a.db' }],
    ['file:a.db?mode=ro', { kind: 'sqlite', path: resolve('file:a.db?mode=ro'), shown: 'file:a.db?mode=ro' }],
    [':memory:', { kind: 'sqlite', path: ':memory:', shown: ':memory:' }],
    ['sqlite::memory:', { kind: 'sqlite', path: ':memory:', shown: ':memory:' }],
  ])('%s is SQLite', (text, address) => {
    expect(storeAddress(text)).toEqual(address);
  });

  it.each([
    ['postgres://ann:s3cret@db.example:5433/yard', 'postgres://ann@db.example:5433/yard'],
    ['postgresql://db.example/yard?password=s3cret&user=ann', 'postgres://db.example/yard'],
    ['POSTGRES://ann:s3cret@[::1]/yard#s3cret', 'postgres://ann@[::1]/yard'],
  ])('%s is PostgreSQL, and its password is never shown', (url, shown) => {
    expect(storeAddress(url)).toEqual({ kind: 'postgres', url, shown });
  });

  it.each([
    ['yard.db', '/srv/config/yard.db', '/srv/config/yard.db'],
    ['sqlite://yard.db', '/srv/config/yard.db', '/srv/config/yard.db'],
    ['sqlite:///var/yard.db', '/var/yard.db', '/var/yard.db'],
    [':memory:', ':memory:', null],
    ['postgres://ann@db/yard', 'postgres://ann@db/yard', null],
  ])('%s in a file of /srv/config is %s', (text, absolute, file) => {
    expect(absoluteAddress(text, '/srv/config')).toBe(absolute);
    expect(storeFile(absolute)).toBe(file);
  });

  it.each([
    ['', "store '': is empty"],
    ['  ', 'is empty'],
    ['sqlite:', 'store sqlite:: names no file'],
    ['mysql://ann:s3cret@db/yard', 'store mysql://...: is neither SQLite nor PostgreSQL'],
    ['libsql://db?token=s3cret', 'store libsql://...: is neither SQLite nor PostgreSQL'],
    ['postgres://ann:s3cret@db:port/yard', 'store postgres://...: is not a URL'],
  ])('refuses %j without repeating what may be secret', (text, message) => {
    const refusal = () => storeAddress(text);
    expect(refusal).toThrowError(expect.objectContaining({ code: 'STORE_ADDRESS' }));
    expect(refusal).toThrow(message);
    expect(refusal).not.toThrow('s3cret');
  });
});
