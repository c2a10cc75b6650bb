import { Badge, type Tone } from './basics';

const TONES: Readonly<Record<string, Tone>> = {
  ok: 'good',
  refused: 'warn',
  client_error: 'warn',
  client_left: 'idle',
};

/** How a request ended. */
export function Outcome({ outcome, status }: { readonly outcome: string; readonly status: number }) {
  return (
    <Badge tone={TONES[outcome] ?? 'bad'}>{outcome === 'ok' ? status : `${outcome.replace('_', ' ')} ${status}`}</Badge>
  );
}
