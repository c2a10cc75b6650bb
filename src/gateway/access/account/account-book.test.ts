import { expect, it } from 'vitest';
import { madeKey } from '../key-record.fixture.js';
import { AccountBook } from './account-book.js';

it('drops the accounts of subjects that are not in use, once all of it is saved and no request holds a seat', () => {
  const book = new AccountBook('gateway');
  const limits = { '*': { tokensPerDay: 5 } };
  const [key, ann, bob] = ['plain', 'jwt/a/ann', 'jwt/a/bob'].map((id) => madeKey({ id, limits }).record);
  const accounts = book.open([key!, ann!, bob!], false);
  const held = accounts.find(({ keyId }) => keyId === ann!.id)!;
  book.dropSubjects(new Set([ann!.id]));
  expect([book.size, book.ofKey(bob!).size]).toEqual([2, 0]);
  held.seats = 1;
  book.dropSubjects(new Set());
  held.seats = 0;
  book.changed(held);
  book.dropSubjects(new Set());
  expect(book.ofKey(ann!).get('*')).toBe(held);
  book.leaveToStore();
  book.dropSubjects(new Set());
  expect([book.size, book.ofKey(ann!).size, book.ofKey(key!).size]).toEqual([1, 0, 1]);
});
