import { keepPreviousData, QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiFailure, type CallOptions, call, setCsrfToken } from './client';
import { live, useLive } from './live';
import type { Session } from './types';

const mayPass = (error: unknown) => error instanceof ApiFailure && (error.isLost || error.status >= 500);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // A lost gateway is asked again and again; a refusal is final.
      retry: (count, error) => mayPass(error) && count < 2,
      retryDelay: 1000,
      refetchOnWindowFocus: false,
    },
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

const SESSION = ['session'] as const;

/** The session of the visitor; null when there is none. */
export function useSession() {
  return useQuery<Session | null, ApiFailure>({
    queryKey: SESSION,
    queryFn: async () => {
      try {
        return accepted(await call<Session>('GET', 'session'));
      } catch (error) {
        if (error instanceof ApiFailure && error.status === 401) return null;
        throw error;
      }
    },
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
}

/** Opens a session. @param credential the admin token, an API key or the token of a login link */
export async function logIn(credential: string): Promise<void> {
  const headers = { authorization: `Bearer ${credential}` };
  queryClient.setQueryData(SESSION, accepted(await call<Session>('POST', 'session', { headers })));
}

export async function logOut(): Promise<void> {
  await call('DELETE', 'session');
  queryClient.clear();
  queryClient.setQueryData(SESSION, null);
}

live.onLost = () => void queryClient.invalidateQueries({ queryKey: SESSION });

/** After a 401 of any call: the session has ended, or the key behind it was revoked. */
export function sessionEnded(): void {
  queryClient.setQueryData(SESSION, null);
}

queryClient.getQueryCache().subscribe(({ query }) => {
  const { error } = query.state;
  if (error instanceof ApiFailure && error.status === 401 && query.queryKey[0] !== SESSION[0]) sessionEnded();
});

function accepted(session: Session): Session {
  setCsrfToken(session.csrf_token);
  return session;
}
