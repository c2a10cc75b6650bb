import { useEffect, useState } from 'react';
import { LOCAL_ZONE, useZone } from './time';
import { clockOf, timeOf } from './zone-time';

interface TimeFieldProps {
  readonly name: string;
  /** As the API takes it; undefined when none is chosen. */
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** A time in the zone of all times on the page. It is passed on when the visitor leaves the field, or by Enter. */
export function TimeField({ name, onChange, value }: TimeFieldProps) {
  const [zone] = useZone();
  const given = clockIn(value, zone);
  const [clock, setClock] = useState(given);
  useEffect(() => setClock(given), [given]);
  const submit = () => {
    if (clock !== given) onChange(timeOf(clock, zone) ?? undefined);
  };
  return (
    <label className="field">
      <span>
        {name}, {zone === 'UTC' ? 'UTC' : LOCAL_ZONE}
      </span>
      <input
        type="datetime-local"
        step={1}
        value={clock}
        onChange={({ target }) => setClock(target.value)}
        onBlur={submit}
        onKeyDown={({ key }) => (key === 'Enter' ? submit() : undefined)}
      />
    </label>
  );
}

/** To the second; empty for what is not a time. */
function clockIn(value: string | undefined, zone: Parameters<typeof clockOf>[1]): string {
  const at = new Date(value ?? '');
  return Number.isNaN(at.getTime()) ? '' : clockOf(at, zone).slice(0, 19);
}
