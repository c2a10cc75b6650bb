import { API_ROUTES } from '../../src/api/routes.js';
import type { BenchTable } from '../bench-table.js';
import type { ControlServer } from '../control/control-server.js';

const MOST_MS = 200;
/** The best of so many: another process may have had the processor. */
const TIMES = 3;

/** Orders and searches of resources: for many, for few and for none. */
function ordered(...phases: readonly string[]): string[] {
  const found = ['search=0', 'search=00500', 'search=none', ...phases.map((phase) => `phase=${phase}`)];
  const sorts = ['sort=-name', 'sort=created', 'sort=-created'];
  return [...found, ...sorts, ...found.map((one) => `${one}&sort=-created`)];
}

/** Further parameters of lists: each is measured as well. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  '/api/v1/requests': [
    ...['endpoint=endpoint-000007', 'key=apikey000000000042', 'class=batch', 'outcome=timeout', 'outcome=failed'],
    ...['min_ttft_ms=200', 'min_ttft_ms=5000', 'min_duration_ms=10000', 'within_s=3600', 'id=request-1999'],
    ...['replica=endpoint-000007-2', 'replica=none', 'model=none', 'workspace=default', 'class=batch&outcome=timeout'],
  ],
  '/api/v1/usage': [
    ...['by=total', 'by=key', 'by=key,model,day', 'by=day', 'by=model', 'by=endpoint', 'workspace=default'],
    'key=apikey000000000042&by=day',
  ],
  '/api/v1/events': ['kind=ApiKey', 'kind=Endpoint&workspace=default&name=endpoint-000500', 'workspace=default'],
  '/api/v1/audit': ['kind=ApiKey', 'kind=Endpoint&workspace=default&name=endpoint-000500', 'actor=bench', 'actor=none'],
  '/api/v1/workspaces/{workspace}/apikeys': [
    'labels=team=a',
    'uid=apikey000000000042',
    ...ordered('Active', 'Revoked'),
  ],
  '/api/v1/workspaces/{workspace}/endpoints': ['labels=team=a', 'labels=team=b', ...ordered('Paused', 'Failed')],
  '/api/v1/apikeys': ['labels=team=a', ...ordered('Pending', 'Revoked', 'Expired')],
  '/api/v1/endpoints': ordered('Paused', 'Failed'),
  '/api/v1/traffic': ['endpoint=endpoint-000007', 'workspace=default'],
  '/api/v1/replicas': ['workspace=default'],
};

interface Page {
  readonly items?: readonly unknown[];
  readonly next?: string | null;
}

/** Every list of the API: its first page, pages of most items, a page far on, and its filters. */
export async function listRows(table: BenchTable, server: ControlServer, where = ''): Promise<void> {
  const lists = API_ROUTES.filter(
    ({ method, response }) => method === 'GET' && (response.type === 'list' || response.type === 'resources'),
  );
  for (const { path } of lists) {
    const place = path
      .replace('{workspace}', 'default')
      .replace('{name}', nameIn(path))
      .replace(/\{\w+\}/g, '1');
    if (!(await server.send('GET', place)).ok) {
      table.report(`${where}list ${path}`, 'not there', '', null);
      continue;
    }
    let worst = { ms: 0, query: '' };
    const measure = async (query: string): Promise<Page> => {
      const { ms, page } = await best(server, `${place}${query === '' ? '' : `?${query}`}`);
      if (ms > worst.ms) worst = { ms, query };
      return page;
    };
    await measure('');
    for (const query of QUERIES[path] ?? []) {
      const { next } = await measure(query);
      if (next) await measure(`${query}&cursor=${encodeURIComponent(next)}`);
    }
    await walk(measure);
    const measured = `${worst.ms.toFixed(0)} ms${worst.query === '' ? '' : ` (${worst.query.slice(0, 60)})`}`;
    table.report(`${where}list ${path}`, measured, `<= ${MOST_MS} ms`, worst.ms <= MOST_MS);
  }
}

const nameIn = (path: string) => (path.includes('apikeys') ? 'key-000500' : 'endpoint-000500');

/** The longest pages one after the other, up to one far on. */
async function walk(measure: (query: string) => Promise<Page>): Promise<void> {
  let { next } = await measure('limit=1000');
  for (let pages = 1; next && pages < 12; pages++) {
    ({ next } = await measure(`limit=1000&cursor=${encodeURIComponent(next)}`));
  }
}

async function best(server: ControlServer, path: string): Promise<{ ms: number; page: Page }> {
  let [ms, page]: [number, Page] = [Number.POSITIVE_INFINITY, {}];
  for (let i = 0; i < TIMES && ms > MOST_MS / 2; i++) {
    const beganAt = performance.now();
    const text = await server.call('GET', path);
    ms = Math.min(ms, performance.now() - beganAt);
    page = JSON.parse(text) as Page;
  }
  return { ms, page };
}
