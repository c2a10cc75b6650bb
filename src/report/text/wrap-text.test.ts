import { describe, expect, it } from 'vitest';
import { wrapText } from './wrap-text.js';

describe('wrapText', () => {
  it('breaks lines at spaces before they get too long', () => {
    expect(wrapText('one two three four', 9)).toEqual(['one two', 'three', 'four']);
  });

  it('keeps the lines of the text', () => {
    expect(wrapText('one\n\ntwo', 80)).toEqual(['one', '', 'two']);
  });

  it('splits a long word after a comma, and leaves one without commas whole', () => {
    expect(wrapText('a prefix:3,queue:2,kv:2', 12)).toEqual(['a prefix:3,', 'queue:2,kv:2']);
    expect(wrapText('a unbreakable-word', 5)).toEqual(['a', 'unbreakable-word']);
  });
});

it('keeps indentation, and gives further lines another width', () => {
  expect(wrapText('  one two three', 9, 5)).toEqual(['  one two', 'three']);
  expect(wrapText('one two three', 9, 5)).toEqual(['one two', 'three']);
});
