import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const FOLDER = fileURLToPath(new URL('../golden', import.meta.url));

export interface GoldenRequest {
  instance: string;
  ttftUs: number;
  itlMeanUs: number;
  e2eUs: number;
  schedulingDelayUs: number;
}

/** A case as recorded: the command and what must come out of it. Times in requests.csv are milliseconds. */
export interface GoldenCase {
  name: string;
  args: string[];
  traceHeader: string;
  traceData: string;
  requests: Map<string, GoldenRequest>;
  cluster: Record<string, number>;
  /** Lines of sections.txt by section: `Anomaly Counters` to its lines. */
  sections: Map<string, string[]>;
}

export const goldenNames = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => existsSync(join(FOLDER, entry.name, 'case.json')))
  .map((entry) => entry.name)
  .sort();

function readMaybeGzipped(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return gunzipSync(readFileSync(`${path}.gz`)).toString('utf8');
  }
}

const us = (ms: string | undefined) => Number(ms) * 1000;

function parseRequests(csv: string): Map<string, GoldenRequest> {
  const rows = csv.trim().split('\n').slice(1);
  return new Map(
    rows.map((line) => {
      const [id, instance, ttft, itl, e2e, delay] = line.split(',');
      return [
        id!,
        { instance: instance!, ttftUs: us(ttft), itlMeanUs: us(itl), e2eUs: us(e2e), schedulingDelayUs: us(delay) },
      ];
    }),
  );
}

function parseSections(text: string): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    const title = /^=== (.*) ===$/.exec(line)?.[1];
    if (title !== undefined) {
      lines = [];
      sections.set(title, lines);
    } else if (line.trim() !== '') {
      lines.push(line.trim());
    }
  }
  return sections;
}

export function goldenCase(name: string): GoldenCase {
  const folder = join(FOLDER, name);
  const data = readdirSync(folder).find((file) => file.startsWith('trace.csv'))!;
  return {
    name,
    args: JSON.parse(readFileSync(join(folder, 'case.json'), 'utf8')).args,
    traceHeader: join(folder, 'trace.yaml'),
    traceData: join(folder, data),
    requests: parseRequests(readMaybeGzipped(join(folder, 'requests.csv'))),
    cluster: JSON.parse(readFileSync(join(folder, 'cluster.json'), 'utf8')),
    sections: parseSections(readFileSync(join(folder, 'sections.txt'), 'utf8')),
  };
}
