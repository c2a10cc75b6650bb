import { expect, it } from 'vitest';
import { type FitDocument, fitTable } from './fit-table.js';

it('has no range where the data does not determine a coefficient', () => {
  const document: FitDocument = {
    ...{ profile: 'lab', model: 'm', hardware: 'H100', tp: 1, before: [] },
    report: {
      data: [],
      parameters: [
        { name: 'context_us', value: 0.05, low: 0.04, high: 0.06 },
        { name: 'request_us', value: 5, low: null, high: null },
      ],
      notes: [],
    },
  };
  const lines = fitTable(document, { colour: false }).split('\n');
  expect(lines.find((line) => line.startsWith('context_us'))).toMatch(/^context_us +0\.05 +0\.04 +0\.06$/);
  expect(lines.find((line) => line.startsWith('request_us'))).toMatch(/^request_us +5 +not identified *$/);
});
