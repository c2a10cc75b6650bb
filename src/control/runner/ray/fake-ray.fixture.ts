import { isEnded, type RayJob } from '../../../ray/ray-job.js';
import type { RayRequest, RayResponse, RayTransport } from '../../../ray/ray-transport.js';

interface SubmittedJob {
  readonly submission_id: string;
  readonly entrypoint: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly runtime_env: Readonly<Record<string, unknown>>;
  readonly entrypoint_label_selector: Readonly<Record<string, string>>;
}

/** A dashboard in memory: a test sets what becomes of jobs. */
export class FakeRay implements RayTransport {
  readonly jobs = new Map<string, RayJob>();
  readonly logs = new Map<string, string[]>();
  readonly submitted: SubmittedJob[] = [];
  readonly packages: Buffer[] = [];
  readonly nodes = new Set(['n1', 'n2']);
  /** Every request fails. */
  isAway = false;
  /** Jobs do not end. */
  isStuck = false;

  async send({ body, method, path }: RayRequest): Promise<RayResponse> {
    if (this.isAway) throw new Error('ECONNREFUSED');
    const [status, value] = this.#respond(method, path.split('?')[0]!, new URLSearchParams(path.split('?')[1]), body);
    return { status, body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), isCut: false };
  }

  async close(): Promise<void> {}

  /** Sets the state of a job. */
  become(id: string, change: Partial<RayJob>): void {
    this.jobs.set(id, { ...this.jobs.get(id)!, ...change });
  }

  /** As the program on the node does. */
  run(id: string, port = 31_000): void {
    this.become(id, { status: 'RUNNING', driver_node_id: 'n1' });
    this.say(id, '@', JSON.stringify({ address: '10.0.0.1', port, pid: 7, devices: '' }));
  }

  say(id: string, number: number | '@', text: string): void {
    this.logs.set(id, [...(this.logs.get(id) ?? []), `2030-01-01T00:00:00.000Z ${number} ${text}`]);
  }

  #respond(method: string, path: string, query: URLSearchParams, body: RayRequest['body']): [number, unknown] {
    const [, id, verb] = /^\/api\/jobs\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    if (path === '/api/version') return [200, { ray_version: '2.60.0', session_name: 's' }];
    if (path === '/api/cluster_status') return [200, { data: {} }];
    if (path === '/api/v0/nodes') return [200, { data: { result: { result: [...this.nodes].map(nodeOf) } } }];
    if (path === '/api/v0/logs/file') {
      const lines = this.logs.get(query.get('filename')!.slice('job-driver-'.length, -'.log'.length)) ?? [];
      return [
        200,
        lines
          .slice(query.get('lines') === '-1' ? 0 : -Number(query.get('lines')))
          .map((line) => `${line}\n`)
          .join(''),
      ];
    }
    if (path.startsWith('/api/packages/')) {
      if (method === 'PUT') this.packages.push(Buffer.from(body as Uint8Array));
      return [method === 'PUT' ? 200 : 404, ''];
    }
    if (path === '/api/jobs/' && method === 'GET') return [200, [...this.jobs.values()]];
    if (path === '/api/jobs/') return [200, this.#submit(JSON.parse(String(body)) as SubmittedJob)];
    if (id === undefined || !this.jobs.has(id)) return [404, `Job ${id} does not exist`];
    if (verb === 'stop' && !this.isStuck) this.become(id, { status: 'STOPPED', end_time: 1 });
    if (method === 'DELETE' && !isEnded(this.jobs.get(id)!)) return [500, 'it is in a non-terminal state RUNNING'];
    if (method === 'DELETE') this.jobs.delete(id);
    return [200, method === 'GET' ? this.jobs.get(id) : {}];
  }

  #submit(job: SubmittedJob): object {
    this.submitted.push(job);
    this.jobs.set(job.submission_id, {
      ...{ type: 'SUBMISSION', submission_id: job.submission_id, status: 'PENDING', message: '', error_type: null },
      ...{ start_time: 1, end_time: null, metadata: job.metadata, driver_node_id: null, driver_exit_code: null },
    });
    return { submission_id: job.submission_id };
  }
}

const nodeOf = (node_id: string) => ({
  ...{ node_id, node_ip: `10.0.0.${node_id.slice(1)}`, state: 'ALIVE', labels: {} },
  resources_total: { CPU: 8, memory: 2 ** 33, GPU: 2, 'accelerator_type:H100': 1 },
});
