import { LAB_REQUESTS, LAB_SEEDS, type LabInput, type LabQuestion } from './lab-question.js';

/** The arguments of `compare` for a question. No value begins with a dash: the schema of the question and of uploads sees to it. */
export function labArguments(question: LabQuestion, input: LabInput | null): string[] {
  const { fleet, policies, seeds, signal_age_ms: signalAgeMs, slo_ttft_ms: sloTtftMs, traffic } = question;
  const isReplay = input?.format === 'trace';
  const flags: [name: string, value: string | number | undefined][] = [
    ['workload', traffic.workload],
    ['workload-spec', input?.format === 'workload' ? input.name : undefined],
    ['trace-data', isReplay ? input.name : undefined],
    ['rate', traffic.rate],
    ['num-requests', traffic.requests ?? (isReplay ? undefined : LAB_REQUESTS)],
    ['model', fleet.model],
    ['hardware', fleet.hardware],
    ['tp', fleet.tp],
    ['num-instances', fleet.replicas],
    ['routing-policy', policies.join(',')],
    ['snapshot-refresh-interval', signalAgeMs === undefined ? undefined : Math.round(signalAgeMs * 1000)],
    ['slo-ttft', sloTtftMs === undefined ? undefined : `${sloTtftMs}ms`],
    ['seeds', seeds ?? (isReplay ? undefined : LAB_SEEDS)],
  ];
  return flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)]));
}
