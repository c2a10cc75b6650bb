import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type ApiFailure, call, pathOf } from './client';
import { mayPass } from './queries';
import { whileInView } from './while-in-view';

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

/** Without events an open job is read again so often. */
const POLL_MS = 5000;

/** A job, followed until it has ended; then with its result, which stays. @param id undefined reads nothing */
export function useJob<Result>(id: string | undefined) {
  const client = useQueryClient();
  const path = id === undefined ? null : `jobs/${pathOf(id)}`;
  const { data, error, refetch } = useQuery<Job<Result>, ApiFailure>({
    queryKey: ['job', path],
    queryFn: ({ signal }) => call<Job<Result>>('GET', path!, { signal }),
    enabled: path !== null,
    staleTime: ({ state }) => (isOpen(state.data) ? 0 : Number.POSITIVE_INFINITY),
    refetchInterval: ({ state }) =>
      isOpen(state.data) && (state.error === null || mayPass(state.error)) ? POLL_MS : false,
  });
  // The gateway has started again since.
  const job = error?.status === 404 ? undefined : data;
  const isFollowed = isOpen(job);
  useEffect(() => {
    if (path === null || !isFollowed) return;
    return whileInView(() => {
      const source = new EventSource(`/api/v1/${path}/events`);
      source.addEventListener('job', (event) => {
        const latest = JSON.parse(event.data) as Job<Result>;
        // The last one has no result.
        if (isOpenJob(latest)) client.setQueryData(['job', path], latest);
      });
      source.addEventListener('end', () => {
        source.close();
        void client.invalidateQueries({ queryKey: ['job', path] });
        // Also where it is listed.
        void client.invalidateQueries({ queryKey: ['api'] });
      });
      return () => source.close();
    });
  }, [client, isFollowed, path]);
  return { job, error, refetch };
}

const isOpen = (job: Pick<Job, 'state'> | undefined) => job !== undefined && isOpenJob(job);
