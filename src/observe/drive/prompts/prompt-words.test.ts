import { describe, expect, it } from 'vitest';
import { PIECE, PromptWords, WORDS } from './prompt-words.js';

describe('WORDS', () => {
  it('are a hundred different ones of four bytes with their space', () => {
    expect(new Set(WORDS).size).toBe(100);
    expect(WORDS.filter((word) => !/^[a-z]{3}$/.test(word))).toEqual([]);
  });
});

describe('PromptWords', () => {
  const texts = new PromptWords(WORDS, 42);

  it('returns the same text for the same piece, up to any length', () => {
    const long = texts.piece(PIECE.group, 3, 100);
    expect(long.split(' ').length).toBe(101);
    expect(long.startsWith(texts.piece(PIECE.group, 3, 60))).toBe(true);
    expect(texts.piece(PIECE.group, 3, 0)).toBe('');
  });

  it('spells the number of a piece, so that no two have the same beginning', () => {
    const beginnings = new Set<string>();
    for (const kind of Object.values(PIECE)) {
      for (let id = 0; id < 3000; id++) beginnings.add(texts.piece(kind, id, 4));
    }
    expect(beginnings.size).toBe(6 * 3000);
  });

  it('differs from one run to the next', () => {
    const other = new PromptWords(WORDS, 43);
    expect(other.piece(PIECE.row, 7, 16)).not.toBe(texts.piece(PIECE.row, 7, 16));
    expect(other.letters(7, 16)).not.toBe(texts.letters(7, 16));
  });

  it('has letters where words are too long', () => {
    expect(texts.letters(1, 5)).toMatch(/^[a-z]{5}$/);
    expect(texts.letters(1, 5).startsWith(texts.letters(1, 3))).toBe(true);
  });
});
