import type { Resource } from '../../api/types';
import { Bar } from '../../parts/basics';

interface Amount {
  readonly name: string;
  readonly free: number;
  readonly total: number;
}

const GIB = 2 ** 30;

/** What is free in a cluster, as it reports it. */
function amountsOf(status: Resource['status']): Amount[] {
  const number = (name: string) => Number(status?.[name] ?? Number.NaN);
  const accelerators = (status?.accelerators ?? []) as readonly { readonly free: number }[];
  const all: Amount[] = [
    { name: 'CPUs', free: number('free_cpus'), total: number('cpus') },
    { name: 'GiB', free: number('free_memory_bytes') / GIB, total: number('memory_bytes') / GIB },
    { name: 'GPUs', free: accelerators.reduce((sum, { free }) => sum + free, 0), total: accelerators.length },
  ];
  return all.filter(({ free, total }) => Number.isFinite(free) && total > 0);
}

const short = (value: number) => String(Math.round(10 * value) / 10);

export function Capacity({ cluster: { status } }: { readonly cluster: Resource }) {
  const amounts = amountsOf(status);
  if (amounts.length === 0) return <span className="muted">{status?.message ?? '–'}</span>;
  return (
    <ul className="plain capacity">
      {amounts.map(({ free, name, total }) => (
        <li key={name}>
          <Bar share={1 - free / total} /> {short(free)} of {short(total)} {name} free
        </li>
      ))}
    </ul>
  );
}
