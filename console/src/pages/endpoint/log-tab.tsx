import { getRouteApi } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { type LogLine, useLogLines } from '../../api/log-lines';
import { Card } from '../../parts/basics';
import { Empty, Failure } from '../../parts/states';

const route = getRouteApi('/endpoints/$workspace/$name');
export function LogTab({ base }: { readonly base: string }) {
  const { find = '', previous, replica } = route.useSearch();
  const navigate = route.useNavigate();
  const isPrevious = previous === 'true';
  const { isLost, lines, refusal, retry } = useLogLines(base, replica, isPrevious);
  const shown = find === '' ? lines : lines.filter(({ line }) => line.toLowerCase().includes(find.toLowerCase()));
  const replicas = [
    ...new Set([...(replica === undefined ? [] : [replica]), ...lines.map((one) => one.replica)]),
  ].sort();
  return (
    <Card
      title={`${shown.length} lines`}
      actions={
        <>
          <select
            aria-label="Which log"
            value={isPrevious ? 'previous' : 'present'}
            onChange={({ target }) =>
              void navigate({
                search: ({ find, tab }) =>
                  target.value === 'previous' ? { find, tab, previous: 'true' } : { find, tab },
                replace: true,
              })
            }
          >
            <option value="present">Followed</option>
            <option value="previous">Of the replica that ended last</option>
          </select>
          {/* The previous log is of one replica. */}
          {isPrevious ? null : (
            <select
              aria-label="Replica"
              value={replica ?? ''}
              onChange={({ target }) =>
                void navigate({
                  search: (before) => ({ ...before, replica: target.value || undefined }),
                  replace: true,
                })
              }
            >
              <option value="">All replicas</option>
              {replicas.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
          <input
            type="search"
            aria-label="Find in the log"
            placeholder="Find"
            value={find}
            onChange={({ target }) =>
              void navigate({ search: (before) => ({ ...before, find: target.value || undefined }), replace: true })
            }
          />
        </>
      }
    >
      {isLost ? <p className="log-note">The log is interrupted; it continues by itself.</p> : null}
      {refusal === null ? null : (
        <div className="padded">
          <Failure error={refusal} onRetry={retry} />
        </div>
      )}
      {refusal !== null ? null : shown.length === 0 ? (
        lines.length === 0 ? (
          <Empty title="No line yet">
            {isPrevious ? 'No replica has ended yet.' : 'Lines appear here as the replicas write them.'}
          </Empty>
        ) : (
          <Empty title="No line has this text">{lines.length} lines were searched.</Empty>
        )
      ) : (
        <Lines lines={shown} find={find} />
      )}
    </Card>
  );
}

function Lines({ find, lines }: { readonly lines: readonly LogLine[]; readonly find: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [sticks, setSticks] = useState(true);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => place.current,
    estimateSize: () => 19,
    overscan: 30,
  });
  useEffect(() => {
    if (sticks) rows.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [lines.length, sticks]);
  return (
    <section
      ref={place}
      className="log"
      aria-label="Log"
      tabIndex={0}
      onScroll={({ currentTarget: { clientHeight, scrollHeight, scrollTop } }) =>
        setSticks(scrollHeight - scrollTop - clientHeight < 40)
      }
    >
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <div key={index} className="log-line" style={{ transform: `translateY(${start}px)` }}>
            <span className="muted">{lines[index]!.replica}</span> <Marked text={lines[index]!.line} find={find} />
          </div>
        ))}
      </div>
    </section>
  );
}

/** A line with the first place that has the wanted text. */
function Marked({ find, text }: { readonly text: string; readonly find: string }) {
  const at = find === '' ? -1 : text.toLowerCase().indexOf(find.toLowerCase());
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + find.length)}</mark>
      {text.slice(at + find.length)}
    </>
  );
}
