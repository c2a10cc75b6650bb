import { Exposition, labelText } from '../../protocol/prometheus/exposition.js';
import { FAMILIES } from './metric-families.js';
import type { MetricFamily } from './metric-family.js';
import type {
  EndpointView,
  FlowView,
  GatewayView,
  LineCounts,
  MetricParts,
  ReplicaView,
  SpanCounts,
} from './metric-sources.js';
import { writePrediction } from './prediction-metrics.js';
import { writeShadows } from './shadow-metrics.js';

/** The gateway's own metrics in Prometheus' text format. */
export function metricsText(gateway: GatewayView, parts: MetricParts = {}): string {
  const out = new Exposition();
  const endpoints = [...gateway.endpoints.values()];
  gateway.metrics.writeTo(out);
  out.single(FAMILIES.inFlight, gateway.inFlight);
  writeEndpoints(out, endpoints);
  writeReplicas(out, gateway, endpoints);
  if (gateway.log !== null) out.single(FAMILIES.decisionLogBroken, gateway.log.isBroken ? 1 : 0);
  writeFlow(out, parts);
  if (parts.shadows !== undefined && parts.shadows.size > 0) writeShadows(out, parts.shadows);
  if (parts.prediction !== undefined) writePrediction(out, parts.prediction);
  writeAccess(out, parts);
  if (parts.logs !== undefined) writeLogs(out, parts.logs);
  if (parts.spans !== undefined) writeSpans(out, parts.spans);
  parts.process?.writeTo(out);
  return out.text();
}

function writeEndpoints(out: Exposition, endpoints: readonly EndpointView[]): void {
  out.family(FAMILIES.endpointInFlight);
  for (const { inFlight, name } of endpoints) out.sample(labelText('endpoint', name), inFlight);
  out.family(FAMILIES.discoveryUp);
  for (const { discovery, name } of endpoints) {
    if (discovery !== null) out.sample(labelText('endpoint', name), discovery.problem === null ? 1 : 0);
  }
  out.family(FAMILIES.policyInfo);
  for (const { name, policy, policyHash } of endpoints) {
    const labels = [labelText('endpoint', name), labelText('policy', policy.name), labelText('hash', policyHash)];
    out.sample(labels.join(','), 1);
  }
}

/** Only of present replicas, even if something was counted for a former one. */
function writeReplicas(out: Exposition, gateway: GatewayView, endpoints: readonly EndpointView[]): void {
  const { breakerOpens, failedScrapes, firstByteTimeouts, missingSignals } = gateway.metrics.replicas;
  const nowUs = gateway.nowUs();
  const each = (family: MetricFamily, value: (replica: ReplicaView, endpoint: EndpointView) => number | undefined) => {
    out.family(family);
    for (const endpoint of endpoints) {
      for (const replica of endpoint.replicas) {
        const now = value(replica, endpoint);
        if (now !== undefined) out.sample(labelText('replica', replica.id), now);
      }
    }
  };
  each(FAMILIES.replicaInFlight, ({ active }) => active);
  each(FAMILIES.replicaRequests, ({ sent }) => sent);
  each(FAMILIES.replicaBooked, (replica, endpoint) => endpoint.inFlightOf(replica));
  each(FAMILIES.replicaReady, ({ state }) => (state === 'ready' ? 1 : 0));
  each(FAMILIES.breakerOpen, ({ breaker }) => (breaker.isOpen ? 1 : 0));
  each(FAMILIES.breakerOpens, ({ id }) => breakerOpens.get(id) ?? 0);
  each(FAMILIES.suspect, (replica, endpoint) => (endpoint.suspicionOf(replica) === '' ? 0 : 1));
  each(FAMILIES.firstByteTimeouts, ({ id }) => firstByteTimeouts.get(id) ?? 0);
  each(FAMILIES.signalsAge, ({ signals }) => (signals === null ? undefined : (nowUs - signals.atUs) / 1e6));
  each(FAMILIES.scrapesFailed, ({ id }) => failedScrapes.get(id) ?? 0);
  out.family(FAMILIES.signalsMissing);
  for (const { id } of endpoints.flatMap(({ replicas }) => replicas)) {
    for (const [signal, count] of missingSignals.get(id) ?? []) {
      out.sample(`${labelText('replica', id)},${labelText('signal', signal)}`, count);
    }
  }
}

function writeFlow(out: Exposition, { flow }: MetricParts): void {
  if (flow === undefined) return;
  writeBy(out, FAMILIES.queued, flow, ({ waiting }) => waiting);
  writeBy(out, FAMILIES.admitted, flow, ({ counts }) => counts.admitted);
  writeReasons(out, FAMILIES.admissionRefused, flow, ({ counts }) => counts.refused);
  writeReasons(out, FAMILIES.queueRefused, flow, ({ counts: { expired, left, rejected, shed, turnedOut } }) =>
    Object.entries({ full: rejected, shed, expired, client_left: left, turned_out: turnedOut }),
  );
}

function writeReasons(
  out: Exposition,
  family: MetricFamily,
  flow: ReadonlyMap<string, FlowView>,
  reasons: (flow: FlowView) => Iterable<[string, number]>,
): void {
  out.family(family);
  for (const [endpoint, view] of flow) {
    for (const [reason, count] of reasons(view)) {
      out.sample(`${labelText('endpoint', endpoint)},${labelText('reason', reason)}`, count);
    }
  }
}

function writeAccess(out: Exposition, { access, journal, kept, listeners = [] }: MetricParts): void {
  out.single(
    FAMILIES.tlsFailures,
    listeners.reduce((sum, { tlsFailures }) => sum + tlsFailures, 0),
  );
  out.single(
    FAMILIES.connectionsDropped,
    listeners.reduce((sum, { dropped }) => sum + dropped, 0),
  );
  if (access !== undefined) {
    const limited = Object.entries(access.limited).map(([name, count]): [string, number] => [snakeCase(name), count]);
    writeBy(out, FAMILIES.limitsHit, new Map(limited), (count) => count);
    out.single(FAMILIES.wrongKeys, access.wrongKeys);
    writeBy(out, FAMILIES.accountingInfo, new Map([[access.mode, 1]]), (one) => one);
    out.single(FAMILIES.storeFailures, access.storeFailures);
  }
  if (journal !== undefined) {
    out.single(FAMILIES.journalFaults, journal.faults);
    out.single(FAMILIES.journalPending, journal.pending);
  }
  if (kept !== undefined) {
    out.single(FAMILIES.requestsKept, kept.written);
    out.single(FAMILIES.requestsNotKept, kept.dropped);
  }
}

function writeLogs(out: Exposition, logs: ReadonlyMap<string, LineCounts>): void {
  writeBy(out, FAMILIES.lines, logs, ({ written }) => written);
  writeBy(out, FAMILIES.linesDropped, logs, ({ dropped }) => dropped);
  writeBy(out, FAMILIES.logBroken, logs, ({ isBroken }) => (isBroken ? 1 : 0));
}

function writeSpans(out: Exposition, { dropped, exported, failed }: SpanCounts): void {
  writeBy(out, FAMILIES.spans, new Map(Object.entries({ exported, failed, dropped })), (count) => count);
}

/** A family with one label. */
function writeBy<Item>(
  out: Exposition,
  family: MetricFamily,
  items: ReadonlyMap<string, Item>,
  value: (item: Item) => number,
): void {
  out.family(family);
  for (const [name, item] of items) out.sample(labelText(family.labels[0]!, name), value(item));
}

/** As the names of metrics are written. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
