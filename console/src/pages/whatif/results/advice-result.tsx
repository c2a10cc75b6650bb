import { Badge, Card, NumberHead, TablePlace } from '../../../parts/basics';
import type { PageAddress } from '../../../parts/copy-link';
import type { Advice } from '../documents';
import { metricChange, metricName, metricValue } from '../metric-text';
import { ServePolicy } from '../switch/serve-policy';
import { Evidence, Notes } from './evidence';
import { Interval, reachOf } from './interval';
import { PolicyPicture } from './policy-picture';
import { SwitchCostPart } from './switch-cost';
import { Verdict } from './verdict';

interface AdviceResultProps {
  readonly called: string;
  readonly address: PageAddress;
  readonly result: Advice;
}

/** The best policy, what is gained, what the switch costs, and how the others compare. */
export function AdviceResult({ address, called, result }: AdviceResultProps) {
  const { alternatives, baseline, best, cost, metric, notes, present, recording } = result;
  const rows = alternatives.flatMap((one) => {
    const found = one.metrics.find((each) => each.metric === metric);
    return found === undefined ? [] : [{ ...one, found }];
  });
  const reach = reachOf(rows.map(({ found }) => found));
  return (
    <>
      <Verdict text={result.verdict} isRefused={baseline.refused !== null} address={address}>
        {/* Policies are compared with the options that they have by default. */}
        {best === null ? null : <ServePolicy called={called} choice={{ policy: best.routing.policy, options: {} }} />}
      </Verdict>
      <Evidence recording={recording} baseline={baseline} />
      <PolicyPicture alternatives={alternatives} baseline={baseline.metrics} metric={metric} />
      {rows.length === 0 ? null : (
        <Card title={`How ${metricName(metric)} changes, the best first`}>
          <TablePlace name="Policies">
            <table className="table table-dense">
              <thead>
                <tr>
                  <th scope="col">Policy</th>
                  <NumberHead>{metricName(metric)}</NumberHead>
                  <NumberHead>Change</NumberHead>
                  <th scope="col" className="interval-head">
                    <span className="interval-scale">
                      <span>{metricChange('', -reach)}</span>
                      <span>{present.policy}</span>
                      <span>{metricChange('', reach)}</span>
                    </span>
                  </th>
                  <NumberHead>95 % interval</NumberHead>
                  <th scope="col">Difference</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ found, name, refused, rejected }) => (
                  <tr key={name}>
                    <th scope="row">
                      {name} {name === best?.policy ? <Badge tone="good">best</Badge> : null}
                    </th>
                    <td className="number">{metricValue(metric, found.predicted)}</td>
                    <td className="number">{metricChange(metric, found.change)}</td>
                    <td>
                      <Interval prediction={refused === null ? found : { ...found, claim: 'none' }} reach={reach} />
                    </td>
                    <td className="number muted">
                      {metricValue(metric, found.low)} to {metricValue(metric, found.high)}
                    </td>
                    <td className="muted">
                      {refused !== null || found.claim === 'none' ? 'not claimed' : found.claim}
                      {rejected > 0 ? ', refuses requests' : ''}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </TablePlace>
          <p className="padded muted">
            Measured with {present.policy}, which is the line in the middle. A policy whose interval holds it is not
            advised: the difference may be chance.
          </p>
        </Card>
      )}
      {best === null || cost === null ? null : <SwitchCostPart cost={cost} from={present.policy} to={best.policy} />}
      <Notes notes={[...baseline.profile.notes, ...notes]} />
    </>
  );
}
