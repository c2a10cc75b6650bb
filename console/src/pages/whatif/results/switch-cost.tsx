import { Card, NumberHead, TablePlace } from '../../../parts/basics';
import { milliseconds } from '../../../parts/format';
import type { SwitchCost } from '../documents';
import { span } from '../metric-text';

const [WIDTH, HEIGHT] = [640, 160];
const COURSES = [
  ['present', 'course-present'],
  ['switched', 'course-switched'],
  ['warm', 'course-warm'],
] as const;

/** TTFT after a switch in the middle of the recording: had it not happened, after it, and with caches that were warm. */
export function SwitchCostPart({
  cost,
  from,
  to,
}: {
  readonly cost: SwitchCost;
  readonly from: string;
  readonly to: string;
}) {
  const { windows, windowS } = cost;
  if (windows.length === 0) return null;
  const names = { present: `${from} stays`, switched: `switched to ${to}`, warm: `${to}, caches warm` };
  const most = Math.max(...windows.flatMap((one) => [one.present, one.switched, one.warm]));
  const path = (key: keyof typeof names) =>
    windows
      .map((one, i) => {
        const x = windows.length === 1 ? WIDTH / 2 : (i * WIDTH) / (windows.length - 1);
        return `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${(HEIGHT - 4 - (one[key] / most) * (HEIGHT - 8)).toFixed(1)}`;
      })
      .join('');
  return (
    <Card title="What the switch costs: TTFT after it, while caches still hold what the former policy placed there">
      <svg className="courses" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {COURSES.map(([key, look]) => (
          <path key={key} className={look} d={path(key)} />
        ))}
      </svg>
      <TablePlace name="TTFT after the switch">
        <table className="table table-dense">
          <thead>
            <tr>
              <th scope="col">After the switch</th>
              {COURSES.map(([key, look]) => (
                <NumberHead key={key}>
                  <span className={`key ${look}`} aria-hidden="true" /> {names[key]}
                </NumberHead>
              ))}
            </tr>
          </thead>
          <tbody>
            {windows.map((one, i) => (
              <tr key={`window ${i + 1}`}>
                <th scope="row">
                  {span(i * windowS)} to {span((i + 1) * windowS)}
                </th>
                {COURSES.map(([key]) => (
                  <td key={key} className="number">
                    {milliseconds(one[key])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </TablePlace>
    </Card>
  );
}
