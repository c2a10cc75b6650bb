import { type MetricsSample, scrapedSummary } from './client/metrics-scraper.js';
import type { Observation, ObservedServer, ObserveOptions, ObservePlan } from './observation.js';
import { observationDocument } from './observation-document.js';
import { observedTrace, recordedIds } from './observed-trace.js';
import type { PreparedRun } from './prepare-run.js';
import type { ChunkTimes } from './send/chunk-times.js';
import type { LoadDriver } from './send/load-driver.js';

/** A run that is over. */
export interface FinishedDrive {
  plan: ObservePlan;
  server: ObservedServer;
  options: ObserveOptions;
  prepared: PreparedRun;
  driver: LoadDriver;
  chunkTimes: ChunkTimes | null;
  metrics: readonly MetricsSample[];
  epochUs: number;
  isInterrupted: boolean;
}

/** The result of a run: its figures, and its requests as a trace. */
export function finishObservation(run: FinishedDrive): Observation {
  const { driver, epochUs, metrics, options, plan, prepared, server } = run;
  const { table } = plan.workload;
  const { records } = driver;
  const rows = recordedRows(run);
  const planned = Math.max(driver.planned, plan.expected ?? 0);
  const { sent } = driver.live;
  const partial = run.isInterrupted ? `it was broken off after ${sent} of ${planned} requests` : null;
  const summary = scrapedSummary(metrics);
  const document = observationDocument({
    url: server.url,
    settings: prepared.settings,
    ...{ table, records, rows, planned, sent, partial },
    gaps: driver.gaps,
    isStream: options.streaming,
    scale: prepared.scale,
    checkedPrompts: prepared.checkedPrompts,
    maxLatenessMs: options.maxLatenessUs / 1000,
    metrics: summary,
  });
  const ids = recordedIds(table, rows);
  const { urgency, writer } = prepared;
  const xRequestId = (row: number) => writer.id(row);
  const recorded = {
    table,
    records,
    rows,
    isStream: options.streaming,
    urgency,
    xRequestId,
    timeoutUs: options.timeoutUs,
  };
  const warmUp = ids.every((id) => id >= options.warmUpRequests) ? Math.min(options.warmUpRequests, sent) : 0;
  return {
    document,
    trace: rows.length === 0 ? null : observedTrace(recorded, ids),
    facts: {
      createdAt: new Date(epochUs / 1000).toISOString(),
      server: prepared.settings,
      ...(warmUp > 0 ? { warmUpRequests: warmUp } : {}),
      ...(options.rttMs === undefined ? {} : { rttMs: options.rttMs }),
      ...(Number.isFinite(options.maxConcurrency) ? { maxInFlight: options.maxConcurrency } : {}),
      ...(plan.workloadSeed === undefined ? {} : { workloadSeed: plan.workloadSeed }),
      ...(plan.workloadSpec === undefined ? {} : { workloadSpec: plan.workloadSpec }),
      ...(plan.goodputTargets === undefined ? {} : { goodputTargets: plan.goodputTargets }),
      ...(metrics.length === 0 ? {} : { observedKvMetrics: summary }),
      ...(partial === null ? {} : { partial }),
      ...(document.late === null ? {} : { late: document.late }),
    },
    epochUs,
    chunks: chunksOf(run, rows, ids),
    metrics,
  };
}

/** What was sent after the warm-up, in order of time. */
function recordedRows({ driver: { records }, options, plan }: FinishedDrive): Int32Array {
  const { count } = plan.workload.table;
  const { order, sentUs } = records;
  return Int32Array.from({ length: count }, (_, row) => row)
    .filter((row) => order[row]! >= options.warmUpRequests)
    .sort((a, b) => Math.round(sentUs[a]!) - Math.round(sentUs[b]!) || order[a]! - order[b]!);
}

function chunksOf({ chunkTimes, plan }: FinishedDrive, rows: Int32Array, ids: Float64Array): Observation['chunks'] {
  if (chunkTimes === null) return [];
  const idOf = new Map(Array.from(rows, (row, i) => [row, ids[i]!]));
  return [...chunkTimes.byRow(plan.workload.table.count)]
    .filter(({ row }) => idOf.has(row))
    .map(({ row, us }) => ({ id: idOf.get(row)!, us }));
}
