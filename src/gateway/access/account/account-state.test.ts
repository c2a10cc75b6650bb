import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Account } from './account.js';
import { absorbState, readState, writeState } from './account-state.js';

const START = Date.parse('2026-05-20T12:00:00Z') / 1000;
const all = () => true;
const nobody = () => false;

function contents({ day, month, requests, seatsElsewhere, tokens }: Account) {
  return {
    second: requests.second,
    requests: requests.toArray(),
    tokens: tokens.toArray(),
    day: [day.start, day.tokens, day.nanos],
    month: [month.start, month.tokens, month.nanos],
    elsewhere: [...seatsElsewhere],
  };
}

const bookings = fc.array(fc.record({ at: fc.nat(100), tokens: fc.nat(1e9), nanos: fc.nat(1e12) }), { maxLength: 30 });

function accountWith(booked: readonly { at: number; tokens: number; nanos: number }[]): Account {
  const account = new Account('k', '*', {});
  for (const { at, nanos, tokens } of booked) {
    account.advance(START + at);
    account.book(account.requests.second, tokens, nanos);
  }
  return account;
}

it('reads what it wrote', () => {
  fc.assert(
    fc.property(bookings, bookings, (booked, others) => {
      const account = accountWith(booked);
      const copy = accountWith(others);
      readState(copy, writeState(account, 'g1'), all);
      expect(contents(copy)).toEqual(contents(account));
      absorbState(copy, writeState(account, 'g1'), all);
      expect(contents(copy)).toEqual(contents(account));
    }),
  );
});

it('starts at zero where nothing was saved, but keeps the seats held here', () => {
  const account = accountWith([{ at: 0, tokens: 5, nanos: 5 }]);
  account.seats = 2;
  account.setSeatsElsewhere([['g2', 1]]);
  readState(account, undefined, all);
  expect(contents(account)).toEqual(contents(new Account('k', '*', {})));
  expect(account.seats).toBe(2);
});

it('keeps seats by gateway, and counts none of dead gateways', () => {
  const mine = accountWith([]);
  mine.seats = 2;
  mine.setSeatsElsewhere([['g2', 1]]);
  const state = writeState(mine, 'g1');
  const theirs = accountWith([]);
  theirs.seats = 1;
  readState(theirs, state, (gateway) => gateway === 'g1');
  expect([...theirs.seatsElsewhere]).toEqual([['g1', 2]]);
  expect(JSON.parse(writeState(theirs, 'g2')).seats).toEqual({ g1: 2, g2: 1 });
  readState(theirs, state, nobody);
  theirs.seats = 0;
  expect(JSON.parse(writeState(theirs, 'g2')).seats).toEqual({});
});

it('merges a state of yesterday without its daily counts', () => {
  const yesterday = accountWith([{ at: 0, tokens: 5, nanos: 6 }]);
  const today = new Account('k', '*', {});
  today.advance(START + 86_400);
  today.book(START + 86_400, 1, 1);
  absorbState(today, writeState(yesterday, 'g1'), all);
  expect([today.day.tokens, today.month.tokens, today.month.nanos]).toEqual([1, 5, 6]);
});
