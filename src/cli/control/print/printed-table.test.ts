import { describe, expect, it } from 'vitest';
import { PrintedTable } from './printed-table.js';

const TITLES = ['NAME', 'PHASE', 'MESSAGE'];

describe('a table whose rows arrive one by one', () => {
  it('prints the titles once, and later rows below the columns of the first', () => {
    const table = new PrintedTable(TITLES, 80, [0, 'Deleting'.length]);
    expect(table.lines([['chat', 'Running', 'ok']])).toEqual(['NAME  PHASE     MESSAGE', 'chat  Running   ok']);
    expect(table.lines([['b', 'Deleting', '']])).toEqual(['b     Deleting']);
  });

  it('wraps the last column where there is room for it', () => {
    const message = 'the engine of replica one ended with exit code 1';
    expect(new PrintedTable(TITLES, 46).lines([['chat', 'Failed', message]])).toEqual([
      'NAME  PHASE   MESSAGE',
      'chat  Failed  the engine of replica one ended',
      '              with exit code 1',
    ]);
  });

  it('continues on indented lines where columns do not fit, and leaves none out', () => {
    const row = ['a-very-long-name-of-a-resource', 'Terminating', 'the engine ended with exit code 1'];
    expect(new PrintedTable(TITLES, 60).lines([row, ['b', 'Running', '']])).toEqual([
      'NAME                            PHASE',
      '    MESSAGE',
      'a-very-long-name-of-a-resource  Terminating',
      '    the engine ended with exit code 1',
      'b                               Running',
    ]);
  });

  it('lets no cell steer the terminal', () => {
    expect(new PrintedTable(['A'], 80).lines([['\u001b[2J']])).toEqual(['A', '?[2J']);
  });
});
