import { describe, expect, it } from 'vitest';
import { sloPriorities } from '../../../policy/slo-classes.js';
import { Account } from '../account/account.js';
import { madeKey } from '../key-record.fixture.js';
import { AccessKey } from './access-key.js';

const keyWith = (about: Parameters<typeof madeKey>[0]) => new AccessKey(madeKey(about).record);

describe('a key', () => {
  it('may use the models on its list, and all without one', () => {
    const some = keyWith({ models: ['a', 'b'] });
    expect(some.visible(['c', 'b', 'a'])).toEqual(['b', 'a']);
    expect(some.modelRefusal('a')).toBeNull();
    const refusal = some.modelRefusal('c'.repeat(200))!;
    expect([refusal.status, refusal.param]).toEqual([403, 'model']);
    expect(refusal.message).toContain(`The key ${some.id} may not use the model '${'c'.repeat(97)}...'`);
    expect(keyWith({ models: null }).visible(['c'])).toEqual(['c']);
    expect(keyWith({ models: [] }).mayUse('c')).toBe(false);
  });

  it('lowers a class that is above its maximum', () => {
    const priorities = sloPriorities({ gold: 9 });
    const batch = keyWith({ maxSloClass: 'batch' });
    const classes = ['critical', 'standard', 'gold', 'anything', 'batch', 'sheddable', 'background'];
    expect(classes.map((asked) => batch.allowedClass(asked, priorities))).toEqual([
      'batch',
      'batch',
      'batch',
      'batch',
      'batch',
      'sheddable',
      'background',
    ]);
    expect(keyWith({ maxSloClass: 'critical' }).allowedClass('gold', priorities)).toBe('critical');
    expect(keyWith({ maxSloClass: null }).allowedClass('gold', priorities)).toBe('gold');
  });

  it('has the accounts of a model, and whether its budget is limited', () => {
    const accounts = new Map(
      [new Account('k', '*', {}), new Account('k', 'm', { dollarsPerMonth: 1 })].map((one) => [one.scope, one]),
    );
    const key = new AccessKey(madeKey().record, accounts);
    expect([key.any?.scope, key.ofModel('m')?.scope, key.ofModel('n'), key.ofModel('*')]).toEqual([
      '*',
      'm',
      null,
      null,
    ]);
    expect([key.limitsMoney('m'), key.limitsMoney('n')]).toEqual([true, false]);
    expect(keyWith({}).limitsMoney('m')).toBe(false);
    const paid = new AccessKey(madeKey().record, new Map([['*', new Account('k', '*', { dollarsPerDay: 1 })]]));
    expect(paid.limitsMoney('n')).toBe(true);
  });
});
