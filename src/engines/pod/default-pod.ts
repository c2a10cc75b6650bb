/** A pod spec of Kubernetes, or a part of one, with placeholders: see `fill-pod.ts`. */
export type PodTemplate = Readonly<Record<string, unknown>>;

/** The container of the engine in a pod, and the name of the port that it serves on. */
export const ENGINE_CONTAINER = 'engine';
export const ENGINE_PORT_NAME = 'http';

/**
 * Placeholders of a pod template. Those that end with `...` stand alone in a list and expand to any number of items; of the others
 * those of the model may have no value.
 */
export const POD_PLACEHOLDERS = [
  'image',
  'program',
  'args...',
  'env...',
  'port',
  'health_path',
  'working_folder',
  'startup_probes',
  'termination_s',
  'replica',
  'model',
  'model_name',
  'hub_model',
  'hub_revision',
  'hub_file',
  'served_model',
] as const;

const probe = { httpGet: { path: '{health_path}', port: ENGINE_PORT_NAME }, periodSeconds: 2, timeoutSeconds: 2 };

/** The pod of an engine version, which its `pod` is merged into. */
export const DEFAULT_POD: PodTemplate = {
  // Engines do not call the API server.
  automountServiceAccountToken: false,
  terminationGracePeriodSeconds: '{termination_s}',
  containers: [
    {
      name: ENGINE_CONTAINER,
      image: '{image}',
      command: ['{program}'],
      args: ['{args...}'],
      env: ['{env...}'],
      ports: [{ name: ENGINE_PORT_NAME, containerPort: '{port}', protocol: 'TCP' }],
      securityContext: { allowPrivilegeEscalation: false },
      // The control plane ends it in time: the probe only keeps readiness from being checked, and never ends it first.
      startupProbe: { ...probe, failureThreshold: '{startup_probes}' },
      readinessProbe: { ...probe, failureThreshold: 3 },
      // Before SIGTERM: where others end a pod, gateways first see that it is going.
      lifecycle: { preStop: { sleep: { seconds: 3 } } },
      terminationMessagePolicy: 'FallbackToLogsOnError',
      volumeMounts: [
        { name: 'shm', mountPath: '/dev/shm' },
        { name: 'work', mountPath: '{working_folder}' },
      ],
    },
  ],
  volumes: [
    // NCCL exchanges between GPUs through it; the default of 64 MiB is too little.
    { name: 'shm', emptyDir: { medium: 'Memory' } },
    { name: 'work', emptyDir: {} },
  ],
};
