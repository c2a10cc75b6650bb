import { describe, expect, it } from 'vitest';
import { madeTrace } from '../tools/made-trace.fixture.js';
import { lostFacts } from './lost-facts.js';

describe('lostFacts', () => {
  it('names what a format cannot express', () => {
    const everything = madeTrace([
      {
        client: 'c',
        tenant: 't',
        sloClass: 's',
        model: 'm',
        session: 'x',
        think: 5,
        deadline: 9,
        target: 9,
        reasonRatio: 0.5,
      },
    ]);
    const others = ['tenants', 'SLO classes', 'models'];
    const late = ['think times', 'deadlines', 'SLO targets', 'kinds of tokens'];
    expect(lostFacts('bailian', everything)).toEqual([...others, ...late]);
    expect(lostFacts('mooncake', everything)).toEqual([
      'clients',
      ...others,
      'which requests belong to a session',
      ...late,
    ]);
    const targets = madeTrace([{}], { goodputTargets: { batch: { ttftUs: 5 } } });
    expect(lostFacts('mooncake', targets)).toEqual(['SLO targets']);
  });

  it('does not name what becomes block ids', () => {
    expect(lostFacts('mooncake', madeTrace([{ input: 900, group: 'g', prefix: 512 }]))).toEqual([]);
  });
});
