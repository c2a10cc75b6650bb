import { expect, it } from 'vitest';
import { kindNamed } from '../../../control/resources/kinds.js';
import type { Resource } from '../../../control/resources/resource.js';
import { readWaitCondition } from './wait-condition.js';

const endpoint = kindNamed('Endpoint', 'test');
const inPhase = (phase: string) =>
  ({
    ...{ apiVersion: 'twinyard/v1', kind: 'Endpoint', spec: {} },
    metadata: { name: 'chat', workspace: 'default', labels: {}, generation: 2 },
    status: { phase, message: '', observed_generation: 2, conditions: [] },
  }) as unknown as Resource;

it.each([
  ['Running', true],
  ['Paused', false],
  ['Degraded', false],
  ['Failed', false],
])('an endpoint that is %s is ready: %s', (phase, isReady) => {
  expect(readWaitCondition('ready', endpoint, '--for').isMet(inPhase(phase))).toBe(isReady);
});

it('waits for any phase by name, paused included', () => {
  expect(readWaitCondition('phase=paused', endpoint, '--for').isMet(inPhase('Paused'))).toBe(true);
});
