import { closeSync, openSync, writeSync } from 'node:fs';
import { randomStream } from '../../src/kernel/random-stream.js';
import { BASE_COLUMNS } from '../../src/workload/trace-v2/data/layout.js';

/** Writes a TraceV2 of a million requests of forty tenants, with sessions and prefix groups. */
export function writeMillionRows(path: string): void {
  const random = randomStream(42, 'million-rows');
  const file = openSync(path, 'w');
  let text = `${BASE_COLUMNS.join(',')}\n`;
  let atUs = 0;
  for (let row = 0; row < 1e6; row++) {
    atUs += 1 + random.below(5000);
    const tenant = random.below(40);
    const chat = random.below(3) === 0 ? `chat_${random.below(50_000)}` : '';
    const group = random.below(2) === 0 ? `group_${tenant}` : '';
    const input = 1 + random.below(4000);
    const output = 1 + random.below(800);
    text += `${row},client_${tenant % 7},tenant_${tenant},standard,${chat},0,${group},${group === '' ? 0 : 512},true,`;
    text += `${input},${output},0,0,0,0,0,,0,0,${atUs},${atUs},0,0,0,ok,,\n`;
    if (text.length > 1 << 20) {
      writeSync(file, text);
      text = '';
    }
  }
  writeSync(file, text);
  closeSync(file);
}
