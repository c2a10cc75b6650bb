/** A line that the engine has written. */
export interface EngineLine {
  /** From 1. */
  readonly number: number;
  /** Milliseconds since 1970, by the clock of the node. */
  readonly at: number;
  readonly text: string;
}

/** What `deploy/ray/replica.py` reports in the log of its job. */
export interface ReplicaReport {
  readonly address?: string;
  readonly port?: number;
  readonly pid?: number;
  /** As in CUDA_VISIBLE_DEVICES. */
  readonly devices?: string;
  readonly problem?: string;
  readonly code?: number | null;
  readonly signal?: string | null;
}

export interface ReplicaLines {
  readonly engine: readonly EngineLine[];
  readonly report: ReplicaReport;
  /** What Ray itself has written. */
  readonly others: readonly string[];
}

const LINE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\d+|@) (.*)$/s;

/** The lines of a job's log, by who wrote them. */
export function replicaLines(lines: readonly string[]): ReplicaLines {
  const engine: EngineLine[] = [];
  const others: string[] = [];
  let report: ReplicaReport = {};
  for (const line of lines) {
    const [, time, number, text] = LINE.exec(line) ?? [];
    if (text === undefined) others.push(line);
    else if (number === '@') report = { ...report, ...reportOf(text) };
    else engine.push({ number: Number(number), at: Date.parse(time!), text });
  }
  return { engine, report, others };
}

/** An engine writes to the same log: numbers that cannot be a port or a process are left out. */
function reportOf(text: string): ReplicaReport {
  try {
    const { pid, port, ...others } = JSON.parse(text) as ReplicaReport;
    return { ...others, ...(isPort(port) ? { port } : {}), ...(isPid(pid) ? { pid } : {}) };
  } catch {
    return {};
  }
}

const isPort = (port: unknown): port is number => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;
const isPid = (pid: unknown): pid is number => Number.isSafeInteger(pid) && Number(pid) > 1;
