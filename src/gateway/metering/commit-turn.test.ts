import { expect, test } from 'vitest';
import { CommitTurn } from './commit-turn.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('one commit for all requests that end in a turn; only then their callbacks run, in order', async () => {
  const heard: string[] = [];
  const commits = new CommitTurn({ commit: () => heard.push('commit') });
  const waits = (name: string, then = () => {}) => {
    const journalled = () => {
      heard.push(name);
      then();
    };
    commits.wait({ journalled });
  };
  waits('a', () => waits('c'));
  waits('b');
  expect(heard).toEqual([]);
  await turn();
  expect(heard).toEqual(['commit', 'a', 'b']);
  await turn();
  expect(heard).toEqual(['commit', 'a', 'b', 'commit', 'c']);
  await turn();
  expect(heard).toHaveLength(5);
});
