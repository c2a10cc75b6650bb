import { expect, test } from 'vitest';
import { gpuName } from './gpu-name.js';

test.each([
  ['NVIDIA H100 80GB HBM3', 'H100'],
  ['NVIDIA-H200', 'H200'],
  ['nvidia-l4', 'L4'],
  ['NVIDIA L40S', 'L40S'],
  ['NVIDIA A100-SXM4-80GB', 'A100-SXM'],
  ['NVIDIA A100 80GB PCIe', 'A100-80'],
  ['NVIDIA GeForce RTX 4090', 'RTX-4090'],
  ['Accelerator X (rev. 2)', 'Accelerator-X-rev.-2-'],
])('%s is %s', (product, name) => {
  expect(gpuName(product)).toBe(name);
});
