/** A metric with all its labels, for the exposition and its documentation. */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  readonly group: MetricGroup;
}

export const METRIC_GROUPS = [
  'Requests',
  'Replicas',
  'Flow control',
  'Shadow policies',
  'Prediction',
  'Keys and limits',
  'Files and traces',
  'Process',
] as const;
export type MetricGroup = (typeof METRIC_GROUPS)[number];

const familyOf =
  (type: MetricFamily['type']) =>
  (group: MetricGroup, name: string, labels: readonly string[], help: string): MetricFamily => ({
    // Process metrics have the conventional names.
    name: name.startsWith('process_') ? name : `twinyard_${name}`,
    type,
    labels,
    help,
    group,
  });

export const counter = familyOf('counter');
export const gauge = familyOf('gauge');
export const histogram = familyOf('histogram');
