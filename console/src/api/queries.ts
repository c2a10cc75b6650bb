import { keepPreviousData, QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiFailure, type CallOptions, call, setCsrfToken } from './client';
import { useLive } from './live';
import type { Session } from './types';

/** Whether the same call may succeed later. */
export const mayPass = (error: unknown) => error instanceof ApiFailure && (error.isLost || error.status >= 500);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // A lost gateway is asked again and again; a refusal is final.
      retry: (count, error) => mayPass(error) && count < 2,
      retryDelay: 1000,
      refetchOnWindowFocus: false,
      // A gateway on this machine is there without a network.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

interface GetOptions {
  /** Read again after this many milliseconds, while the page is live. */
  readonly everyMs?: number;
  /** The former page stays in view while the next one is read. */
  readonly keepsFormer?: boolean;
  /** It does not change while the server runs: it is read once. */
  readonly isFixed?: boolean;
}

/** What a path of the API returns. Its address is the key of the cache. @param path null reads nothing */
export function useGet<Result>(path: string | null, options: GetOptions = {}) {
  const { everyMs, isFixed = false, keepsFormer = false } = options;
  const isLive = useLive(({ state }) => state === 'live');
  return useQuery<Result, ApiFailure>({
    queryKey: [isFixed ? 'fixed' : 'api', path],
    queryFn: ({ signal }) => call<Result>('GET', path!, { signal }),
    enabled: path !== null,
    ...(isFixed ? { staleTime: Number.POSITIVE_INFINITY } : {}),
    ...(everyMs !== undefined && isLive ? { refetchInterval: everyMs } : {}),
    ...(keepsFormer ? { placeholderData: keepPreviousData } : {}),
  });
}

export interface Change extends CallOptions {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
}

/** A change by the API, after which everything in view is read again. */
export function useChange<Result = unknown>() {
  const client = useQueryClient();
  return useMutation<Result, ApiFailure, Change>({
    mutationFn: ({ method, path, ...options }) => call<Result>(method, path, options),
    onSuccess: () => client.invalidateQueries({ queryKey: ['api'] }),
    // Another change came first: show it.
    onError: ({ status }) => (status === 409 ? client.invalidateQueries({ queryKey: ['api'] }) : undefined),
  });
}

export const SESSION = ['session'] as const;
const SESSION_MS = 60_000;
/** Another tab may log in again for all of them. */
const ENDED_MS = 5000;

/** The session of the visitor, or the one that has ended; null when there has been none. */
export function useSession() {
  return useQuery<Session | null, ApiFailure>({
    queryKey: SESSION,
    queryFn: async () => {
      const former = presentSession();
      try {
        const session = await call<Session>('GET', 'session');
        // Another visitor has logged in in another tab.
        return isOther(former, session) ? startAfresh() : accepted(session);
      } catch (error) {
        if (error instanceof ApiFailure && error.status === 401) return former === null ? null : ended(former);
        throw error;
      }
    },
    staleTime: SESSION_MS,
    refetchInterval: ({ state }) => (state.data?.has_ended === true ? ENDED_MS : SESSION_MS),
    refetchOnWindowFocus: 'always',
  });
}

export const presentSession = () => queryClient.getQueryData<Session | null>(SESSION) ?? null;

export const ended = (session: Session): Session => ({ ...session, has_ended: true });

export const isOther = (former: Session | null, present: Session) => former !== null && former.name !== present.name;

export function accepted(session: Session): Session {
  setCsrfToken(session.csrf_token);
  return session;
}

/** Loads the console again, so that nothing of a visitor is left for the next one. */
export function startAfresh(): Promise<never> {
  location.replace('/');
  return new Promise(() => {});
}
