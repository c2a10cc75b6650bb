import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from './gateway-config.js';
import { readPolicyBody, readReplicaBody } from './read-admin-body.js';

describe('readReplicaBody', () => {
  it('reads a replica', () => {
    expect(readReplicaBody('{"url":"http://h:1"}')).toEqual({
      endpoint: 'default',
      replica: { id: 'h:1', url: 'http://h:1', engine: 'vllm', models: null },
    });
    expect(readReplicaBody('{"endpoint":"e","url":"https://h/","id":"i","engine":"tgi","model":"m"}')).toEqual({
      endpoint: 'e',
      replica: { id: 'i', url: 'https://h', engine: 'tgi', models: ['m'] },
    });
  });

  it.each([
    ['', 'is not valid JSON'],
    ['url: http://h:1', 'is not valid JSON'],
    ['null', 'is not a map'],
    ['[]', 'is not a map'],
    ['{}', 'is missing'],
    ['{"url":5}', 'is not a'],
    ['{"url":"h:1/x"}', 'more or less than an address'],
    ['{"url":"nothing"}', 'is not a URL'],
    ['{"url":"http://h/?q"}', 'more or less than an address'],
    ['{"url":"http://h:1","engine":"vlm"}', "unknown value 'vlm'"],
    ['{"url":"http://h:1","urls":1}', "unknown key 'urls'"],
  ])('says what is wrong with %s', (text, problem) => {
    expect(() => readReplicaBody(text)).toThrowError(
      expect.objectContaining({ place: expect.stringMatching(/^body/), problem: expect.stringContaining(problem) }),
    );
  });
});

describe('readPolicyBody', () => {
  it('reads a policy; what it does not say is the default', () => {
    expect(readPolicyBody('{}')).toEqual(DEFAULT_POLICY);
    expect(readPolicyBody('{"policy":"lmetric","block_size":32}')).toEqual({
      ...DEFAULT_POLICY,
      name: 'lmetric',
      blockSize: 32,
    });
    const weighted = { policy: 'weighted', options: { scorers: 'queue-depth:1' }, cache_blocks: 5 };
    expect(readPolicyBody(JSON.stringify(weighted))).toEqual({
      name: 'weighted',
      options: { scorers: 'queue-depth:1' },
      blockSize: 16,
      cacheBlocks: 5,
    });
  });

  it.each([
    ['{"policy":"wighted"}', "unknown routing policy 'wighted'"],
    ['{"options":{"scorer":"x"}}', "'scorer'"],
    ['{"options":[1]}', 'not a map'],
    ['{"block_size":0}', 'too small'],
    ['{"name":"weighted"}', "unknown key 'name'"],
  ])('says what is wrong with %s', (text, problem) => {
    expect(() => readPolicyBody(text)).toThrowError(
      expect.objectContaining({ problem: expect.stringContaining(problem) }),
    );
  });
});
