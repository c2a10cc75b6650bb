import { describe, expect, it } from 'vitest';
import { labelSelector } from './label-selector.js';
import { type Declared, plan, planText } from './plan.js';

const declared = (name: string, spec: object, labels = {}): Declared => ({
  kind: 'Endpoint',
  workspace: 'default',
  name,
  spec: { ...spec },
  labels,
});

describe('plan', () => {
  it('lists what is new, changed and unchanged, with keys in any order', () => {
    const before = [declared('a', { x: 1, y: [1, 2] }), declared('b', { x: 1, y: 2 }), declared('left', {})];
    const wanted = [
      declared('a', { y: [1, 3, 4] }, { l: 'v' }),
      declared('b', { y: 2, x: 1 }),
      declared('c', { x: 1 }),
    ];
    const changes = plan(before, wanted);
    expect(changes.map(({ action }) => action)).toEqual(['changed', 'unchanged', 'created']);
    expect(planText(changes)).toBe(
      'Endpoint default/a changed\n  metadata.labels.l: (absent) -> "v"\n  spec.x: 1 -> (absent)\n' +
        '  spec.y[1]: 2 -> 3\n  spec.y[2]: (absent) -> 4\nEndpoint default/b unchanged\nEndpoint default/c created\n',
    );
    expect(plan(wanted, wanted).every(({ action }) => action === 'unchanged')).toBe(true);
  });

  it('takes no longer per difference for a hundred thousand than for one', () => {
    const labels = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, 'x']));
    expect(plan([declared('a', {})], [declared('a', {}, labels)])[0]!.differences).toHaveLength(100_000);
  });

  it('shows only that a secret differs, and truncates long values', () => {
    const sealed = (text: string) => ({ $sealed: `v1.k.${text}` });
    const text = planText(
      plan(
        [declared('a', { t: sealed('A'), gone: sealed('B') })],
        [declared('a', { t: sealed('C'), made: { in: sealed('D') }, long: 'x'.repeat(500) })],
      ),
    );
    expect(text).not.toContain('v1.k');
    expect(text).toContain(
      '  spec.t: "***" -> "***"\n  spec.gone: "***" -> (absent)\n  spec.made: (absent) -> {"in":"***"}\n',
    );
    expect(text).toMatch(/x\.\.\.\n$/);
  });
});

describe('labelSelector', () => {
  const labels = { team: 'search', gpu: '' };

  it.each([
    ['', true],
    ['team=search', true],
    ['team == search, gpu', true],
    ['team=other', false],
    ['team!=search', false],
    ['tier!=free', true],
    ['!old,!gpu', false],
    ['example.org/x', false],
    ['toString', false],
    ['gpu=', true],
    ['team in (search, chat),gpu', true],
    ['team in (chat,images)', false],
    ['gpu,team notin (chat,search)', false],
    ['tier notin (free)', true],
    ['tier in (free)', false],
  ])('%j selects: %s', (text, expected) => {
    expect(labelSelector(text, 'label')(labels)).toBe(expected);
  });

  it.each(['=x', '!a=b', 'a=b=c', 'a b', 'a in (b', 'a in b', '!a in (b)'])('refuses %j', (text) => {
    expect(() => labelSelector(text, '--selector')).toThrow('--selector: ');
  });
});
