import { expect, test } from 'vitest';
import { DEFAULT_POD } from './default-pod.js';
import { filledPod, templateProblems } from './fill-pod.js';
import { mergedPod } from './merge-pod.js';

test('a template adds to the default pod, changes it by name, and removes with null', () => {
  const pod = mergedPod(DEFAULT_POD, {
    hostIPC: true,
    terminationGracePeriodSeconds: 600,
    containers: [
      { name: 'engine', lifecycle: null, env: [{ name: 'A', value: 'b' }], readinessProbe: { periodSeconds: 9 } },
      { name: 'sidecar', image: 'x' },
    ],
    volumes: [{ name: 'shm', emptyDir: { sizeLimit: '8Gi' } }, { name: 'cache' }],
  });
  const [engine, sidecar] = pod.containers as Record<string, unknown>[];
  expect(pod).toMatchObject({ hostIPC: true, terminationGracePeriodSeconds: 600, automountServiceAccountToken: false });
  expect(engine).not.toHaveProperty('lifecycle');
  expect(engine).toMatchObject({
    env: ['{env...}', { name: 'A', value: 'b' }],
    readinessProbe: { periodSeconds: 9, failureThreshold: 3 },
  });
  expect(sidecar).toEqual({ name: 'sidecar', image: 'x' });
  expect(pod.volumes).toEqual([
    { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '8Gi' } },
    { name: 'work', emptyDir: {} },
    { name: 'cache' },
  ]);
  expect(mergedPod({ tolerations: [1], command: ['a'] }, { tolerations: [2], command: ['b'] })).toEqual({
    tolerations: [1, 2],
    command: ['b'],
  });
});

test('placeholders are numbers where Kubernetes has numbers, and text in lists and variables', () => {
  const values = { port: 8000, image: 'a:1', 'args...': ['--x', '1'], 'env...': [{ name: 'A', value: '1' }] };
  const template = {
    ports: [{ containerPort: '{port}' }],
    args: ['{port}', '{args...}'],
    env: ['{env...}', { name: 'PORT', value: '{port}' }, { name: 'A', value: '2' }],
    image: '{image}-slim',
    script: `echo $\{port} {unknown}`,
  };
  expect(filledPod(template, values)).toEqual({
    ports: [{ containerPort: 8000 }],
    args: ['8000', '--x', '1'],
    env: [
      { name: 'PORT', value: '8000' },
      { name: 'A', value: '2' },
    ],
    image: 'a:1-slim',
    script: `echo $\{port} {unknown}`,
  });
});

test('a nested list is left out when one of its placeholders has no value', () => {
  const template = { args: ['download', '{hub_model}', ['--revision', '{hub_revision}']] };
  const filled = (hub_revision?: string) => filledPod(template, { hub_model: 'acme/tiny', hub_revision }).args;
  expect(filled()).toEqual(['download', 'acme/tiny']);
  expect(filled('v2')).toEqual(['download', 'acme/tiny', '--revision', 'v2']);
});

test('unknown placeholders and misplaced lists are reported with their place', () => {
  expect(templateProblems(DEFAULT_POD)).toEqual([]);
  const wrong = { containers: [{ image: '{imege}', args: ['x {args...}'], env: '{env...}' }] };
  expect(templateProblems(wrong).map(({ path, problem }) => `${path}: ${problem}`)).toEqual([
    '.containers[0].image: unknown placeholder {imege}',
    '.containers[0].args[0]: {args...} is a list',
    '.containers[0].env: {env...} is a list',
  ]);
});
