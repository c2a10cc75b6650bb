/** A course over time, without axes: the number beside it says where it ends. */
export function Sparkline({
  values,
  tone = 'info',
}: {
  readonly values: readonly (number | null)[];
  readonly tone?: string;
}) {
  const [width, height] = [120, 28];
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return <svg className="sparkline" viewBox={`0 0 ${width} ${height}`} aria-hidden="true" />;
  const most = Math.max(...known, 1e-9);
  const step = width / (values.length - 1);
  const y = (value: number) => height - 2 - (value / most) * (height - 4);
  let path = '';
  let isOpen = false;
  values.forEach((value, i) => {
    if (value === null) {
      isOpen = false;
      return;
    }
    path += `${isOpen ? 'L' : 'M'}${(i * step).toFixed(1)} ${y(value).toFixed(1)}`;
    isOpen = true;
  });
  return (
    <svg
      className={`sparkline spark-${tone}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  );
}
