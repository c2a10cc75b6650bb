import type { PastRequest } from '../../api/types';
import { milliseconds } from '../../parts/format';
import { phasesOf } from './phases';

/** The life of a request: each phase where it lay in time. */
export function Waterfall({ request }: { readonly request: PastRequest }) {
  const total = Math.max(request.duration_ms, 0.001);
  const share = (ms: number) => `${((100 * ms) / total).toFixed(3)}%`;
  return (
    <ol className="waterfall">
      {phasesOf(request).map(({ end, name, start, tone, what }) => (
        <li key={`${name} ${start}`}>
          <span className="waterfall-name">
            {name} <span className="muted">{what}</span>
          </span>
          <span className="waterfall-track" aria-hidden="true">
            <span className={`bar-${tone}`} style={{ marginLeft: share(start), width: share(end - start) }} />
          </span>
          <span className="number">{milliseconds(end - start)}</span>
        </li>
      ))}
    </ol>
  );
}
