import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { rayWorkerJobs, type WorkerJobOptions, workersJob } from './worker-manifests.js';

const options = (changes: Partial<WorkerJobOptions> = {}): WorkerJobOptions => ({
  ...{ name: 'sweepers', namespace: 'lab', image: 'registry.example/twinyard:1', queue: 'redis://redis.default:6379' },
  ...{ secret: null, workers: 8, cpus: 4, sharedPath: null, untilIdleS: 60, ...changes },
});

describe('workersJob', () => {
  it('is an Indexed Job with a pod for each worker, each with its CPUs and threads', () => {
    const job = parse(workersJob(options()));
    expect(job).toMatchObject({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'sweepers', namespace: 'lab' },
      spec: { completionMode: 'Indexed', completions: 8, parallelism: 8, backoffLimitPerIndex: 3 },
    });
    const { containers, restartPolicy, volumes } = job.spec.template.spec;
    // With a limit for each index pods are not restarted in place.
    expect(restartPolicy).toBe('Never');
    expect(containers).toHaveLength(1);
    expect(containers[0]).toMatchObject({
      image: 'registry.example/twinyard:1',
      args: ['worker', '--threads', '4', '--until-idle', '60'],
      env: [{ name: 'TWINYARD_QUEUE', value: 'redis://redis.default:6379' }],
      resources: { requests: { cpu: 4, memory: '4Gi' }, limits: { memory: '8Gi' } },
      volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
    });
    expect(volumes).toEqual([{ name: 'tmp', emptyDir: {} }]);
  });

  it('gives pods no rights that a worker does not need', () => {
    const { containers, ...pod } = parse(workersJob(options())).spec.template.spec;
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('reads the URL of the queue from a secret, and traces from a volume that all share', () => {
    const text = workersJob(options({ queue: null, secret: 'queue', sharedPath: '/mnt/traces' }));
    const { containers, volumes } = parse(text).spec.template.spec;
    expect(containers[0].env).toEqual([
      { name: 'TWINYARD_QUEUE', valueFrom: { secretKeyRef: { name: 'queue', key: 'url' } } },
    ]);
    expect(containers[0].args.slice(-2)).toEqual(['--shared-path', '/mnt/traces']);
    expect(containers[0].volumeMounts[1]).toEqual({ name: 'shared', mountPath: '/mnt/traces', readOnly: true });
    expect(volumes[1].persistentVolumeClaim).toEqual({ claimName: 'twinyard-shared', readOnly: true });
  });
});

describe('rayWorkerJobs', () => {
  const bodies = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('is a body of the job API for each worker, with ids of their own', () => {
    const all = bodies(rayWorkerJobs(options({ workers: 2 })));
    expect(all.map(({ submission_id }) => submission_id)).toEqual(['sweepers-0', 'sweepers-1']);
    expect(all[1]).toEqual({
      entrypoint: 'twinyard worker --threads 4 --until-idle 60',
      submission_id: 'sweepers-1',
      entrypoint_num_cpus: 4,
      runtime_env: { env_vars: { TWINYARD_QUEUE: 'redis://redis.default:6379' } },
      metadata: { app: 'twinyard-worker', index: '1' },
    });
  });

  it('quotes arguments for the shell that Ray starts, and has no URL where none may be printed', () => {
    const [body] = bodies(rayWorkerJobs(options({ workers: 1, queue: null, sharedPath: "/mnt/it's; rm -rf" })));
    expect(body.entrypoint).toBe("twinyard worker --threads 4 --until-idle 60 --shared-path '/mnt/it'\\''s; rm -rf'");
    expect(body).not.toHaveProperty('runtime_env');
  });
});
