import type { CliIo } from './io.js';

/** Runs with the arguments behind the command's name and returns the exit code. */
export type CommandAction = (argv: readonly string[], io: CliIo) => Promise<number>;

export interface CommandEntry {
  name: string;
  summary: string;
  /** Commands are loaded when they are called: none pays for another's imports. */
  load: () => Promise<CommandAction>;
}

/** Every command there is: a new one is a file and a line here. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'simulate a cluster under generated requests',
    load: async () => (await import('./simulate/run.js')).run,
  },
  {
    name: 'replay',
    summary: 'simulate a cluster under the requests of a trace',
    load: async () => (await import('./simulate/replay.js')).replay,
  },
  {
    name: 'compare',
    summary: 'simulate several variants under the same workload and tell what differs',
    load: async () => (await import('./compare/compare.js')).compare,
  },
  {
    name: 'observe',
    summary: 'send requests to a real server at their planned times and record what comes back',
    load: async () => (await import('./observe/observe.js')).observe,
  },
  {
    name: 'calibrate',
    summary: 'compare a prediction with what was measured, or fit step times to it',
    load: async () => (await import('./calibrate/calibrate.js')).calibrate,
  },
  {
    name: 'validate',
    summary: 'observe a server, replay what was observed and compare the two',
    load: async () => (await import('./validate/validate.js')).validate,
  },
  {
    name: 'decide',
    summary: 'run a routing policy over a stream of events',
    load: async () => (await import('./decide/decide.js')).decide,
  },
  {
    name: 'trace',
    summary: 'look at a trace, cut it, change its rate, make it anonymous',
    load: async () => (await import('./trace/trace.js')).trace,
  },
  {
    name: 'convert',
    summary: 'turn a trace into another format or into a workload specification',
    load: async () => (await import('./convert/convert.js')).convert,
  },
  {
    name: 'compose',
    summary: 'put workload specifications together into one',
    load: async () => (await import('./convert/compose.js')).compose,
  },
  {
    name: 'engine',
    summary: 'emulate an inference engine: an OpenAI-compatible server without a GPU',
    load: async () => (await import('./serve/engine.js')).engine,
  },
  {
    name: 'serve',
    summary: 'put a routing policy in front of live replicas: the gateway',
    load: async () => (await import('./serve/serve.js')).serve,
  },
  {
    name: 'apply',
    summary: 'make the resources of files so, and tell what changed',
    load: async () => (await import('./control/apply.js')).apply,
  },
  {
    name: 'get',
    summary: 'list resources of a control plane, or show one',
    load: async () => (await import('./control/get.js')).get,
  },
  {
    name: 'describe',
    summary: 'tell everything about a resource: how it is, its replicas, its events',
    load: async () => (await import('./control/describe.js')).describe,
  },
  {
    name: 'delete',
    summary: 'ask resources to go',
    load: async () => (await import('./control/delete.js')).deleteCommand,
  },
  {
    name: 'wait',
    summary: 'wait until a resource is ready, in a phase, or gone',
    load: async () => (await import('./control/wait.js')).wait,
  },
  {
    name: 'scale',
    summary: 'change how many replicas an endpoint has',
    load: async () => (await import('./control/scale.js')).scale,
  },
  {
    name: 'logs',
    summary: 'print what the replicas of an endpoint write',
    load: async () => (await import('./control/logs.js')).logs,
  },
  {
    name: 'events',
    summary: 'tell what happened to resources, or who changed them',
    load: async () => (await import('./control/events.js')).events,
  },
  {
    name: 'issue',
    summary: 'give a key of a control plane its text, and show it, this once',
    load: async () => (await import('./control/issue.js')).issue,
  },
  {
    name: 'backup',
    summary: 'copy a store into a file: resources, keys, usage',
    load: async () => (await import('./control/backup.js')).backup,
  },
  {
    name: 'restore',
    summary: 'fill an empty store from a backup',
    load: async () => (await import('./control/restore.js')).restoreCommand,
  },
  {
    name: 'keys',
    summary: 'make, list, change, rotate and revoke keys, and tell what was used with them',
    load: async () => (await import('./keys.js')).keys,
  },
  {
    name: 'demo',
    summary: 'bring up emulated replicas and the gateway in front of them',
    load: async () => (await import('./serve/demo.js')).demo,
  },
  {
    name: 'explain',
    summary: 'tell why the gateway sent a request where it did',
    load: async () => (await import('./explain.js')).explain,
  },
  { name: 'version', summary: 'print the version', load: async () => (await import('./version.js')).version },
];

/** The summary a command's own help starts with. */
export function summaryOf(name: string): string {
  return COMMANDS.find((command) => command.name === name)!.summary;
}
