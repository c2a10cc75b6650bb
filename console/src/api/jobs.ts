import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { pathOf } from './client';
import { useGet } from './queries';

/** Long work of the gateway, as the API returns it. */
export interface Job<Result = object> {
  readonly id: string;
  readonly kind: string;
  readonly workspace: string;
  readonly endpoint: string;
  readonly asked: Readonly<Record<string, unknown>>;
  readonly commands: readonly string[];
  readonly created_by: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly duration_s: number | null;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly progress: {
    readonly stage: string;
    readonly done: number;
    readonly total: number;
    /** What is known so far, in words. */
    readonly detail?: string;
  };
  readonly error: { readonly code: string; readonly message: string; readonly hint: string } | null;
  readonly result?: Result | null;
}

export const isOpenJob = ({ state }: Pick<Job, 'state'>) => state === 'waiting' || state === 'running';

/** A job, followed until it has ended; then with its result. @param id undefined reads nothing */
export function useJob<Result>(id: string | undefined) {
  const client = useQueryClient();
  const path = id === undefined ? null : `jobs/${pathOf(id)}`;
  const query = useGet<Job<Result>>(path);
  const [latest, setLatest] = useState<Job<Result> | null>(null);
  const isOpen = query.data !== undefined && isOpenJob(query.data);
  useEffect(() => {
    if (path === null || !isOpen) return;
    const source = new EventSource(`/api/v1/${path}/events`);
    source.addEventListener('job', (event) => setLatest(JSON.parse(event.data) as Job<Result>));
    source.addEventListener('end', () => {
      source.close();
      // Also where it is listed.
      void client.invalidateQueries({ queryKey: ['api'] });
    });
    return () => source.close();
  }, [client, isOpen, path]);
  const job = isOpen && latest !== null && latest.id === id ? latest : query.data;
  return { job, error: query.error, refetch: query.refetch };
}
