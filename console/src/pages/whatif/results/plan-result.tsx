import { Badge, Card, NumberHead, TablePlace } from '../../../parts/basics';
import type { PageAddress } from '../../../parts/copy-link';
import { milliseconds, short, whole } from '../../../parts/format';
import { Stat, Stats } from '../../../parts/stat';
import type { FleetPlan, Measure, PlanPoint } from '../documents';
import { Evidence, Notes } from './evidence';
import { Verdict } from './verdict';

const WHY = { slo: 'misses the SLO', backlog: 'the backlog grows', lost: 'requests are lost' };

/** The least fleet that keeps the SLOs, with what is next to it. */
export function PlanResult({ address, result }: { readonly address: PageAddress; readonly result: FleetPlan }) {
  const { baseline, candidates, notes, plan, present, recording } = result;
  const [candidate] = candidates;
  const found = candidate?.plan ?? null;
  const points = [found?.oneLess, found?.at, found?.oneMore].filter((one) => one !== null && one !== undefined);
  const [least, greatest] = found?.replicasRange ?? [null, null];
  return (
    <>
      <Verdict text={result.verdict} isRefused={plan.chosen === null} address={address} />
      <Stats>
        <Stat
          name="Least fleet"
          value={found?.replicas == null ? 'none' : whole(found.replicas)}
          unit={found?.replicas == null ? '' : `replica${found.replicas === 1 ? '' : 's'}`}
          note={
            candidate?.gpus == null ? '' : `${candidate.gpus} ${candidate.gpu}, tp ${candidate.tp}, ${candidate.policy}`
          }
        />
        {present === null ? null : <Stat name="Served by, at present" value={whole(present)} unit="replicas" />}
        <Stat
          name="Load"
          value={short(plan.load.rate)}
          unit="requests/s"
          note={
            plan.load.source === 'recording' ? `recorded: ${short(plan.load.baseRate)}` : `preset ${plan.load.source}`
          }
        />
        {least === null || greatest === null ? null : (
          <Stat
            name="Within the calibrated error"
            value={least === greatest ? whole(least) : `${least} to ${greatest}`}
            unit="replicas"
          />
        )}
      </Stats>
      {recording === null || baseline === null ? null : <Evidence recording={recording} baseline={baseline} />}
      {points.length === 0 ? null : (
        <Card title="The fleets next to it, at this load">
          <Points points={points} slos={plan.slos} chosen={found?.at ?? null} />
        </Card>
      )}
      {found === null || found.curve.length < 2 ? null : (
        <Card title="How much this fleet bears">
          <Points points={found.curve} slos={plan.slos} chosen={null} />
        </Card>
      )}
      <Notes notes={[...(baseline?.profile.notes ?? []), ...notes]} />
    </>
  );
}

interface PointsProps {
  readonly points: readonly PlanPoint[];
  readonly slos: FleetPlan['plan']['slos'];
  readonly chosen: PlanPoint | null;
}

const isSame = (a: Measure) => (b: Measure) => a.of === b.of && a.at === b.at;

function Points({ chosen, points, slos }: PointsProps) {
  return (
    <TablePlace name="Fleets and loads">
      <table className="table table-dense">
        <thead>
          <tr>
            <NumberHead>Replicas</NumberHead>
            <NumberHead>Requests/s</NumberHead>
            {slos.map((slo) => (
              <NumberHead key={slo.text}>{slo.text}</NumberHead>
            ))}
            <th scope="col">SLO</th>
          </tr>
        </thead>
        <tbody>
          {points.map((point) => (
            <tr key={`${point.replicas} at ${point.rate}`} className={point === chosen ? 'is-chosen' : ''}>
              <td className="number">{whole(point.replicas)}</td>
              <td className="number">{short(point.rate)}</td>
              {slos.map((slo) => {
                const latency = point.latencies.find(isSame(slo));
                return (
                  <td key={slo.text} className="number">
                    {milliseconds(latency?.ms ?? null)}
                    {latency?.low == null || latency.high === null ? null : (
                      <span className="muted"> ± {milliseconds((latency.high - latency.low) / 2)}</span>
                    )}
                  </td>
                );
              })}
              <td>
                <Badge tone={point.kept ? 'good' : 'bad'}>
                  {point.kept || point.why === null ? 'kept' : WHY[point.why]}
                </Badge>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}
