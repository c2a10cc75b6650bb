import type { CliIo } from './io.js';

/** Runs with the arguments after the command's name and returns the exit code. */
export type CommandAction = (argv: readonly string[], io: CliIo) => Promise<number>;

/** The jobs that commands are for, as help and documentation list them. */
export const COMMAND_GROUPS = ['Simulate', 'Serve', 'Operate', 'Traces and calibration', 'Other'] as const;

export interface CommandEntry {
  name: string;
  group: (typeof COMMAND_GROUPS)[number];
  /** Imperative, without a capital and a full stop. */
  summary: string;
  /** Commands are loaded when they are called, so that none loads the imports of another. */
  load: () => Promise<CommandAction>;
}

/** Every command: a new one is a file and an entry here. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    group: 'Simulate',
    summary: 'simulate a cluster under generated requests',
    load: async () => (await import('./simulate/run.js')).run,
  },
  {
    name: 'replay',
    group: 'Simulate',
    summary: 'simulate a cluster under the requests of a trace',
    load: async () => (await import('./simulate/replay.js')).replay,
  },
  {
    name: 'compare',
    group: 'Simulate',
    summary: 'simulate several variants under one workload and report what differs',
    load: async () => (await import('./compare/compare.js')).compare,
  },
  {
    name: 'plan',
    group: 'Simulate',
    summary: 'find the least fleet that keeps SLOs at a load, or the greatest load of a fleet',
    load: async () => (await import('./plan/plan.js')).plan,
  },
  {
    name: 'sweep',
    group: 'Simulate',
    summary: 'simulate combinations of settings and report which keep constraints and are best',
    load: async () => (await import('./sweep/sweep.js')).sweep,
  },
  {
    name: 'tune',
    group: 'Simulate',
    summary: 'find the policies for a workload and what they gain',
    load: async () => (await import('./tune/tune.js')).tune,
  },
  {
    name: 'whatif',
    group: 'Simulate',
    summary: 'predict what another policy or fleet would have made of recorded traffic, and how sure that is',
    load: async () => (await import('./whatif/whatif.js')).whatIfCommand,
  },
  {
    name: 'worker',
    group: 'Simulate',
    summary: 'compute runs of experiments from a queue, on any number of machines',
    load: async () => (await import('./experiment/worker.js')).worker,
  },
  {
    name: 'experiment',
    group: 'Simulate',
    summary: 'list, fetch and cancel experiments on a queue, and print jobs that run workers',
    load: async () => (await import('./experiment.js')).experiment,
  },
  {
    name: 'decide',
    group: 'Simulate',
    summary: 'run a routing policy over a stream of events',
    load: async () => (await import('./decide/decide.js')).decide,
  },
  {
    name: 'serve',
    group: 'Serve',
    summary: 'run the gateway, and the control plane where it has a store',
    load: async () => (await import('./serve/serve.js')).serve,
  },
  {
    name: 'demo',
    group: 'Serve',
    summary: 'start emulated replicas and a gateway in front of them',
    load: async () => (await import('./serve/demo.js')).demo,
  },
  {
    name: 'engine',
    group: 'Serve',
    summary: 'emulate an inference engine: an OpenAI-compatible server without a GPU',
    load: async () => (await import('./serve/engine.js')).engine,
  },
  {
    name: 'kube-role',
    group: 'Serve',
    summary: "print the Kubernetes Role that 'serve --kube' needs",
    load: async () => (await import('./serve/kube-role.js')).kubeRole,
  },
  {
    name: 'explain',
    group: 'Serve',
    summary: 'print why the gateway routed or refused a request',
    load: async () => (await import('./explain/explain.js')).explain,
  },
  {
    name: 'shadow',
    group: 'Serve',
    summary: 'let other policies decide about live requests without placing them, and compare',
    load: async () => (await import('./shadow/shadow.js')).shadow,
  },
  {
    name: 'profiles',
    group: 'Operate',
    summary: 'list, show, pin and export the latency profiles that a gateway fits to its traffic',
    load: async () => (await import('./profiles.js')).profiles,
  },
  {
    name: 'top',
    group: 'Operate',
    summary: 'show replicas, request rates, latency and queues of a running gateway, live',
    load: async () => (await import('./top/top.js')).top,
  },
  {
    name: 'doctor',
    group: 'Operate',
    summary: 'check configuration, ports, rights, store, replicas and clocks, and print a hint for each finding',
    load: async () => (await import('./doctor/doctor.js')).doctor,
  },
  {
    name: 'apply',
    group: 'Operate',
    summary: 'apply resource files and print what changed',
    load: async () => (await import('./control/apply.js')).apply,
  },
  {
    name: 'get',
    group: 'Operate',
    summary: 'list resources, or print some of them',
    load: async () => (await import('./control/get.js')).get,
  },
  {
    name: 'describe',
    group: 'Operate',
    summary: 'print a resource with its status, replicas and events',
    load: async () => (await import('./control/describe.js')).describe,
  },
  {
    name: 'delete',
    group: 'Operate',
    summary: 'delete resources',
    load: async () => (await import('./control/delete.js')).deleteCommand,
  },
  {
    name: 'wait',
    group: 'Operate',
    summary: 'wait until a resource is ready, in a phase, or deleted',
    load: async () => (await import('./control/wait.js')).wait,
  },
  {
    name: 'diff',
    group: 'Operate',
    summary: 'print what applying resource files would change',
    load: async () => (await import('./control/change/diff.js')).diff,
  },
  {
    name: 'edit',
    group: 'Operate',
    summary: 'change a resource in an editor',
    load: async () => (await import('./control/change/edit.js')).edit,
  },
  {
    name: 'patch',
    group: 'Operate',
    summary: 'change parts of a resource',
    load: async () => (await import('./control/change/patch.js')).patch,
  },
  {
    name: 'rollout',
    group: 'Operate',
    summary: 'follow the update of an endpoint, list the revisions of a resource, and undo changes',
    load: async () => (await import('./rollout.js')).rollout,
  },
  {
    name: 'scale',
    group: 'Operate',
    summary: 'change the number of replicas of an endpoint',
    load: async () => (await import('./control/scale.js')).scale,
  },
  {
    name: 'logs',
    group: 'Operate',
    summary: 'print the logs of the replicas of an endpoint',
    load: async () => (await import('./control/logs.js')).logs,
  },
  {
    name: 'events',
    group: 'Operate',
    summary: 'list the events of resources, or the audit log',
    load: async () => (await import('./control/events.js')).events,
  },
  {
    name: 'context',
    group: 'Operate',
    summary: 'choose the server and the default workspace of commands',
    load: async () => (await import('./context.js')).context,
  },
  {
    name: 'issue',
    group: 'Operate',
    summary: 'issue an API key and print its secret once',
    load: async () => (await import('./control/issue.js')).issue,
  },
  {
    name: 'keys',
    group: 'Operate',
    summary: 'create, list, update, rotate and revoke API keys, and report their usage',
    load: async () => (await import('./keys.js')).keys,
  },
  {
    name: 'backup',
    group: 'Operate',
    summary: 'copy a store into a file: resources, API keys, usage',
    load: async () => (await import('./control/backup.js')).backup,
  },
  {
    name: 'restore',
    group: 'Operate',
    summary: 'fill an empty store from a backup',
    load: async () => (await import('./control/restore.js')).restoreCommand,
  },
  {
    name: 'trace',
    group: 'Traces and calibration',
    summary: 'inspect, cut, rescale and anonymise traces',
    load: async () => (await import('./trace/trace.js')).trace,
  },
  {
    name: 'convert',
    group: 'Traces and calibration',
    summary: 'convert a trace to another format or to a workload specification',
    load: async () => (await import('./convert/convert.js')).convert,
  },
  {
    name: 'compose',
    group: 'Traces and calibration',
    summary: 'merge workload specifications into one',
    load: async () => (await import('./convert/compose.js')).compose,
  },
  {
    name: 'observe',
    group: 'Traces and calibration',
    summary: 'send requests to a server at their planned times and record the responses',
    load: async () => (await import('./observe/observe.js')).observe,
  },
  {
    name: 'calibrate',
    group: 'Traces and calibration',
    summary: 'compare a prediction with measurements, or fit step times to them',
    load: async () => (await import('./calibrate/calibrate.js')).calibrate,
  },
  {
    name: 'validate',
    group: 'Traces and calibration',
    summary: 'observe a server, replay the observed trace, and compare the two',
    load: async () => (await import('./validate/validate.js')).validate,
  },
  {
    name: 'completion',
    group: 'Other',
    summary: 'print a completion script for bash, zsh or fish',
    load: async () => (await import('./completion/completion.js')).completion,
  },
  {
    name: 'schema',
    group: 'Other',
    summary: 'print the JSON Schema of a file format',
    load: async () => (await import('./schema/schema.js')).schema,
  },
  {
    name: 'version',
    group: 'Other',
    summary: 'print the version',
    load: async () => (await import('./version.js')).version,
  },
];

/** The summary that the help of a command starts with. */
export function summaryOf(name: string): string {
  return COMMANDS.find((command) => command.name === name)!.summary;
}
