import { describe, expect, it, test } from 'vitest';
import { tableWidth, textWidth, wantsColour } from './io.js';

const stream = (isTTY: boolean, columns?: number) => ({
  write: () => {},
  isTTY,
  ...(columns === undefined ? {} : { columns }),
});

describe('wantsColour', () => {
  test.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: '' }, true],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ])('on a terminal: %s, with %j: %s', (isTTY, env, expected) => {
    expect(wantsColour(stream(isTTY), env)).toBe(expected);
  });
});

describe('widths', () => {
  it('are those of COLUMNS, else of the terminal, else 80', () => {
    expect(tableWidth(stream(true, 132), {})).toBe(132);
    expect(tableWidth(stream(true, 132), { COLUMNS: '100' })).toBe(100);
    expect(tableWidth(stream(false), {})).toBe(80);
    expect(tableWidth(stream(false), { COLUMNS: 'x' })).toBe(80);
    expect(tableWidth(stream(true, 10), {})).toBe(40);
  });

  it('have a limit for prose', () => {
    expect(textWidth(stream(true, 300), {})).toBe(120);
  });
});
