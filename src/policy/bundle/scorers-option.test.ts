import { describe, expect, it } from 'vitest';
import { routingPolicy } from '../registry.js';
import { scorersOption } from './scorers-option.js';

const hint = "write 'policy: weighted'";

describe('scorersOption', () => {
  it('writes scorers as text, for any notation', () => {
    const lines: string[] = [];
    const option = (given: Parameters<typeof scorersOption>[1]) =>
      scorersOption(routingPolicy('weighted'), given, 'p', hint, (line) => lines.push(line));
    expect(option([{ name: 'queue-depth', weight: 2 }])).toBe('queue-depth:2');
    expect(option('queue-depth:2, kv-utilization:1')).toBe('queue-depth:2,kv-utilization:1');
    expect(lines).toEqual([]);
    option('prefix-affinity:1');
    expect(lines).toEqual([expect.stringMatching(/^p: prefix-affinity alone/)]);
  });

  it('refuses them for a policy that has none', () => {
    expect(() => scorersOption(routingPolicy('random'), 'queue-depth:1', 'p', hint, () => {})).toThrowError(
      expect.objectContaining({ code: 'CONFLICTING_FLAGS', problem: 'has no effect with the routing policy random' }),
    );
  });
});
