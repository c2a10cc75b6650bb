import type { Gateway } from '../gateway.js';

/** The gateway's own metrics in Prometheus' text format. */
export function metricsText(gateway: Gateway): string {
  const lines: string[] = [];
  const metric = (name: string, type: string, help: string, samples: [labels: string, value: number][]) => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [labels, value] of samples) lines.push(`${name}${labels} ${value}`);
  };
  const { metrics } = gateway;
  const labelled = <Key>(counts: ReadonlyMap<Key, number>, label: string): [string, number][] =>
    [...counts].map(([key, value]) => [`{${label}="${escaped(String(key))}"}`, value]);
  const perReplica = (value: (replica: ReturnType<Gateway['replicas']>[number]) => number): [string, number][] =>
    gateway.replicas().map((replica) => [`{replica="${escaped(replica.id)}"}`, value(replica)]);

  metric('twinyard_requests_total', 'counter', 'Requests by how they ended.', labelled(metrics.outcomes, 'outcome'));
  metric(
    'twinyard_refused_total',
    'counter',
    'Requests answered without a replica.',
    labelled(metrics.refusals, 'status'),
  );
  metric('twinyard_retries_total', 'counter', 'Tries on another replica.', [['', metrics.retries]]);
  metric('twinyard_faults_total', 'counter', 'Things that should not happen.', [['', metrics.faults]]);
  metric('twinyard_in_flight', 'gauge', 'Requests under way.', [['', gateway.inFlight]]);
  metric(
    'twinyard_replica_in_flight',
    'gauge',
    'Requests under way by replica.',
    perReplica(({ active }) => active),
  );
  metric(
    'twinyard_replica_ready',
    'gauge',
    '1 for a replica that takes requests.',
    perReplica(({ state }) => (state === 'ready' ? 1 : 0)),
  );
  metric(
    'twinyard_replica_breaker_open',
    'gauge',
    '1 for a replica kept away from.',
    perReplica(({ breaker }) => (breaker.isOpen ? 1 : 0)),
  );
  metric(
    'twinyard_replica_signals_age_seconds',
    'gauge',
    'How long ago a replica said how it is.',
    gateway
      .replicas()
      .filter(({ signals }) => signals !== null)
      .map(({ id, signals }) => [`{replica="${escaped(id)}"}`, (gateway.nowUs() - signals!.atUs) / 1e6]),
  );
  metric(
    'twinyard_scrapes_failed_total',
    'counter',
    'Metrics that could not be read.',
    labelled(metrics.failedScrapes, 'replica'),
  );
  metric(
    'twinyard_signals_missing_total',
    'counter',
    'Signals an engine should give and did not.',
    [...metrics.missingSignals].flatMap(([replica, signals]) =>
      [...signals].map(([signal, value]): [string, number] => [
        `{replica="${escaped(replica)}",signal="${escaped(signal)}"}`,
        value,
      ]),
    ),
  );
  if (gateway.log !== null) {
    metric('twinyard_decision_log_broken', 'gauge', '1 when decisions are not recorded any more.', [
      ['', gateway.log.isBroken ? 1 : 0],
    ]);
  }
  return `${lines.join('\n')}\n`;
}

function escaped(text: string): string {
  return text.replace(/["\\\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
