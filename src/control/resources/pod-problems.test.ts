import { expect, test } from 'vitest';
import { patchProblems, podProblems } from './pod-problems.js';

const messages = (problems: readonly Error[]) => problems.map(({ message }) => message.split(';')[0]);
const inPod = (pod: object) => messages(podProblems(pod as never, 'pod', (path) => path));
const inPatch = (...operations: unknown[]) => messages(patchProblems(operations, 'json_patches', (path) => path));

test('the pod template of an engine version is checked without a cluster', () => {
  expect(inPod({})).toEqual([]);
  expect(inPod({ containers: [{ name: 'engine', image: '{image}' }], hostIPC: true })).toEqual([]);
  expect(inPod({ containers: [{ name: 'engine', image: '{imege}' }] })).toEqual([
    'pod.containers[0].image: unknown placeholder {imege}',
  ]);
  expect(inPod({ containers: { name: 'engine' } })).toEqual(['pod.containers: is not a list of items with names']);
  expect(inPod({ volumes: [{ emptyDir: {} }] })).toEqual(['pod.volumes: is not a list of items with names']);
  expect(inPod({ volumes: [{ name: 'a' }, { name: 'a' }] })).toEqual(['pod.volumes: has two items of the same name']);
  expect(inPod({ spec: { containers: [] } })).toEqual(['pod: is a manifest, not the spec of a pod']);
});

test('operations are checked as far as it goes without a manifest', () => {
  expect(inPatch({ op: 'add', path: '/metadata/annotations/a', value: null })).toEqual([]);
  expect(inPatch({ op: 'remove', path: '/a' }, { op: 'add', path: '/a' })).toEqual([
    'json_patches[1].value: is missing',
  ]);
  expect(inPatch({ op: 'move', path: '/a' })).toEqual(['json_patches[0].from: is not a JSON pointer']);
  expect(inPatch({ op: 'add', path: 'a', value: 1 })).toEqual(['json_patches[0].path: is not a JSON pointer']);
});

test.each([
  '/metadata/name',
  '/metadata/namespace',
  '/metadata/ownerReferences/-',
  '/metadata/labels/twinyard~1cluster',
  '/metadata/annotations/twinyard~1record',
  '/metadata/labels/app.kubernetes.io~1managed-by',
  '/spec/template/metadata/labels/twinyard~1start',
  '/spec/selector',
  '/spec/selector/matchLabels/a',
  '/spec/replicas',
  '/kind',
])('%s cannot be patched, but it can be tested', (path) => {
  const problem = `${path} is set by the control plane`;
  expect(inPatch({ op: 'add', path, value: 'x' })).toEqual([`json_patches[0].path: ${problem}`]);
  expect(inPatch({ op: 'remove', path })).toEqual([`json_patches[0].path: ${problem}`]);
  expect(inPatch({ op: 'move', from: path, path: '/a' })).toEqual([`json_patches[0].from: ${problem}`]);
  expect(inPatch({ op: 'test', path, value: 'x' })).toEqual([]);
  expect(inPatch({ op: 'copy', from: path, path: '/metadata/annotations/a' })).toEqual([]);
});
