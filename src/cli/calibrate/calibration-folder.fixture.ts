import { writeFileSync } from 'node:fs';
import { csv, type Row } from '../../workload/trace-v2/data/csv-text.fixture.js';
import { inTestFolder } from '../test-folder.fixture.js';

export const COMPARE = 'calibrate --trace seen --sim-results results.json';
export const HEADER = 'trace_version: 3\ntime_unit: us\nmode: real\n';

/** Five requests a millisecond apart; the n-th took 1000 + 100 n us to its first token and 5000 + 100 n in all. */
export function seen(changes: Row[] = [], columns?: readonly string[]): string {
  const rows = Array.from({ length: 5 }, (_, i): Row => {
    const sentUs = 1_700_000_000_000_000 + 1000 * i;
    return {
      ...{ arrival_time_us: `${1000 * i}`, send_time_us: `${sentUs}`, server_input_tokens: '100' },
      ...{ first_chunk_time_us: `${sentUs + 1000 + 100 * i}`, last_chunk_time_us: `${sentUs + 5000 + 100 * i}` },
      ...changes[i],
    };
  });
  return csv(rows, columns);
}

export type Entry = Record<string, unknown>;

/** What was seen, predicted a tenth too late to the first token and exactly to the last. */
export function entries(change: (entry: Entry, i: number) => Entry = (entry) => entry): Entry[] {
  return Array.from({ length: 5 }, (_, i) =>
    change(
      {
        ...{ request_id: `request_${i}`, ttft_us: 1.1 * (1000 + 100 * i), e2e_us: 5000 + 100 * i },
        ...{ input_tokens: 100, output_tokens: 10 },
      },
      i,
    ),
  );
}

export const write = (path: string, value: unknown) => writeFileSync(path, JSON.stringify(value));

/** Lets the tests of a file run in a folder that holds `seen.yaml`, `seen.csv` and `results.json`. */
export function inCalibrationFolder(): void {
  inTestFolder(() => {
    writeFileSync('seen.yaml', HEADER);
    writeFileSync('seen.csv', seen());
    write('results.json', entries());
  });
}
