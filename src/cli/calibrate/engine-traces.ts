import type { MeasuredRequest } from '../../observe/calibrate/measured-request.js';
import type { EngineSettings, ObservedTrace } from '../../observe/fit/traces/observed-trace.js';
import { trafficFiles } from '../../workload/formats/traffic/traffic-files.js';
import { forEachLine } from '../../workload/input-chunks.js';
import { linkResponses } from '../../workload/sessions/link-responses.js';
import { selectRows } from '../../workload/tools/select-rows.js';
import type { Trace } from '../../workload/trace.js';

export interface EngineTraceFacts {
  name: string;
  engine: EngineSettings;
  /** Between the client and the engine: no part of what the engine takes. */
  rttUs: number;
  /** Requests with lower numbers are not judged. */
  warmUp: number;
  /** Requests are due when they were planned, not when they were sent. */
  isPlanned: boolean;
  /** Requests that the client had in flight at most; undefined: any number. With several engines it says nothing of one. */
  maxInFlight: number | undefined;
  /** The engine that served a request; null where one engine served all. */
  engineOf: ((id: number) => string) | null;
}

/**
 * The requests and results of each engine in a trace: those of a gateway count from when they were sent to a replica.
 * @param measured by row of the trace
 */
export function engineTraces(
  trace: Trace,
  measured: readonly MeasuredRequest[],
  { engine, engineOf, isPlanned, maxInFlight, name, rttUs, warmUp }: EngineTraceFacts,
): ObservedTrace[] {
  const dispatchUs = trace.format === 'trace-v2' ? undefined : trace.observed?.dispatchUs;
  const delayUs = (row: number) => dispatchUs?.[row] || 0;
  const groups = new Map<string, number[]>();
  for (const [row, { id }] of measured.entries()) {
    const key = engineOf === null ? '' : engineOf(id);
    const rows = groups.get(key);
    if (rows === undefined) groups.set(key, [row]);
    else rows.push(row);
  }
  return [...groups].map(([key, rows]): ObservedTrace => {
    const dueUs = isPlanned ? trace.wantedUs : trace.table.arrivalUs;
    const arrivalUs = (row: number) => dueUs[row]! + delayUs(row);
    rows.sort((a, b) => arrivalUs(a) - arrivalUs(b) || a - b);
    const part = selectRows(trace, Int32Array.from(rows));
    linkResponses(part);
    const { table } = part;
    rows.forEach((row, i) => {
      table.arrivalUs[i] = arrivalUs(row);
    });
    // An interrupted response does not show how long a complete one takes.
    const taken = (us: 'ttftUs' | 'e2eUs') =>
      Float64Array.from(rows, (row) =>
        measured[row]!.completed && measured[row]!.streamed ? measured[row]![us] - delayUs(row) - rttUs : Number.NaN,
      );
    return {
      name: groups.size === 1 ? name : `${name} (${key})`,
      table,
      ttftUs: taken('ttftUs'),
      e2eUs: taken('e2eUs'),
      warmUp: rows.filter((row) => measured[row]!.id < warmUp).length,
      maxInFlight: groups.size === 1 ? (maxInFlight ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY,
      engine,
    };
  });
}

/** The replica that served each request of a recording, by request number; empty for none. */
export async function trafficReplicas(path: string): Promise<(id: number) => string> {
  const replicas: string[] = [];
  for (const file of trafficFiles(path)) {
    await forEachLine(file, (line) => {
      if (line.trim() !== '') replicas.push(replicaOf(line));
    });
  }
  return (id) => replicas[id] ?? '';
}

function replicaOf(line: string): string {
  try {
    const { replica } = JSON.parse(line) as { replica?: unknown };
    return typeof replica === 'string' ? replica : '';
  } catch {
    // Cut off in the middle: its reader leaves it out.
    return '';
  }
}
