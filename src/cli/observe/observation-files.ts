import { type MetricsSample, SCRAPED, type Scraped } from '../../observe/drive/client/metrics-scraper.js';
import type { Observation } from '../../observe/drive/observation.js';
import { writeTrace } from '../../workload/trace-v2/write.js';
import type { OutputContent } from '../output/output-files.js';
import type { ObservePaths } from './observe-paths.js';

/** What is written of an observation, and where. */
export function observationFiles(observation: Observation, paths: ObservePaths): OutputContent[] {
  const { chunks, epochUs, facts, metrics, trace } = observation;
  const outputs: OutputContent[] = [];
  if (trace !== null && paths.header !== null && paths.data !== null) {
    const { data, header } = writeTrace(trace, facts, epochUs);
    outputs.push({ ...paths.header, pieces: () => [header] }, { ...paths.data, pieces: () => data });
  }
  if (paths.itl !== null) outputs.push({ ...paths.itl, pieces: () => chunkLines(chunks, epochUs) });
  if (paths.metrics !== null) outputs.push({ ...paths.metrics, pieces: () => [metricLines(metrics)] });
  return outputs;
}

function* chunkLines(chunks: Observation['chunks'], epochUs: number): Generator<string> {
  yield 'request_id,chunk_index,timestamp_us\n';
  for (const { id, us } of chunks) {
    let text = '';
    for (let i = 0; i < us.length; i++) text += `${id},${i},${epochUs + Math.round(us[i]!)}\n`;
    yield text;
  }
}

function metricLines(samples: readonly MetricsSample[]): string {
  const names = Object.keys(SCRAPED) as Scraped[];
  const lines = samples.map((sample) =>
    [sample.atUs, ...names.map((name) => (Number.isNaN(sample[name]) ? '' : sample[name]))].join(','),
  );
  return `${[['timestamp_us', ...names].join(','), ...lines].join('\n')}\n`;
}
