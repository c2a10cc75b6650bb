import type { Query } from '@tanstack/react-query';
import { ApiFailure, call } from './client';
import { live } from './live';
import { accepted, ended, isOther, presentSession, queryClient, SESSION, startAfresh } from './queries';
import type { Session } from './types';

/**
 * Opens a session. The page in view stays for the visitor whose session has ended; for another one the console starts afresh.
 * @param credential the admin token, an API key or the token of a login link
 */
export async function logIn(credential: string): Promise<void> {
  const headers = { authorization: `Bearer ${credential}` };
  const session = await call<Session>('POST', 'session', { headers });
  if (isOther(presentSession(), session)) await startAfresh();
  queryClient.setQueryData(SESSION, accepted(session));
}

export async function logOut(): Promise<void> {
  try {
    await call('DELETE', 'session');
  } catch (error) {
    // It has ended already.
    if (!(error instanceof ApiFailure && error.status === 401)) throw error;
  }
  await startAfresh();
}

/** What an error of any call says about the session and the gateway. */
function notice(error: unknown, query?: Query): void {
  if (!(error instanceof ApiFailure)) return;
  if (error.isLost) live.reached(false);
  // The session has ended, or the key behind it was revoked.
  if (error.status === 401)
    queryClient.setQueryData<Session | null>(SESSION, (former) => (former ? ended(former) : former));
  // What the visitor may not see any more leaves the page.
  if (error.status === 403 && query?.state.data !== undefined) query.setState({ data: undefined });
}

queryClient.getQueryCache().subscribe((event) => {
  if (event.type !== 'updated') return;
  const { action, query } = event;
  if (action.type === 'error' || action.type === 'failed') notice(action.error, query);
  if (action.type === 'success' && action.manual !== true) live.reached(true);
});
queryClient.getMutationCache().subscribe((event) => {
  if (event.type === 'updated' && event.action.type === 'error') notice(event.action.error);
});

live.onLost = () => void queryClient.invalidateQueries({ queryKey: SESSION }, { cancelRefetch: false });
