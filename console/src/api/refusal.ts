import { ApiFailure, send } from './client';
import { queryClient } from './queries';

/** Why the API refuses a stream, which an EventSource does not say; null when it would open it now. @param path after /api/v1/ */
export function refusalOf(path: string): Promise<ApiFailure | null> {
  // By the cache: it notices that a session has ended.
  const asked = queryClient.fetchQuery<null, ApiFailure>({
    queryKey: ['stream', path],
    queryFn: async () => {
      const stream = new AbortController();
      await send('GET', path, { signal: stream.signal });
      stream.abort();
      return null;
    },
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  return asked.catch((error: unknown) => {
    if (error instanceof ApiFailure) return error;
    throw error;
  });
}
