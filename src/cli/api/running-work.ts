import type { CliIo } from '../io.js';
import type { StartedJob } from './started-job.js';

/** What a signal has to cancel. */
export interface RunningWork {
  /** Created, or about to be. */
  job: Promise<StartedJob> | null;
  isStopped: boolean;
  /** What a cancelled job left behind, in words. */
  stopped: () => Promise<string>;
}

/** Work of a gateway that is cancelled there on a signal: one handler for all jobs of a command, since a second one would end the process. */
export function runningWork(io: CliIo): RunningWork {
  const running: RunningWork = {
    ...{ job: null, isStopped: false },
    stopped: async () => 'cancelled; nothing was changed',
  };
  io.beforeSignal(() => stop(running, io));
  return running;
}

/** Cancels the job and reports what became of it; a job that is being created is waited for. */
async function stop(running: RunningWork, io: CliIo): Promise<void> {
  running.isStopped = true;
  try {
    await (await running.job)?.cancel();
    io.stderr.write(`\ntwinyard: ${await running.stopped()}\n`);
  } catch (error) {
    io.stderr.write(`\ntwinyard: not cancelled: ${(error as Error).message}\n`);
  }
}

/** The exit code of a command whose job was cancelled. @param what where this command did not cancel it */
export function cancelledWork(io: CliIo, { isStopped }: RunningWork, what: string): number {
  if (!isStopped) io.stderr.write(`twinyard: ${what}\n`);
  return isStopped ? 130 : 1;
}
