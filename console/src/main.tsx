import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queries';
import { logIn } from './api/session';
import { App } from './shell/app';
import { offerTour } from './shell/tour/tour-state';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/twin.css';
import './styles/shell.css';

/** A link that logs in has its token behind the `#`: it is used once and leaves the address at once. */
async function followLoginLink(): Promise<string | null> {
  const [, token, tour] = /^#login=(login_[\w-]+)(&tour)?$/.exec(location.hash) ?? [];
  if (token === undefined) return null;
  history.replaceState(null, '', location.pathname + location.search);
  try {
    await logIn(token);
    if (tour !== undefined) offerTour();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

// A page that the browser kept for _Back_ may be of a former visitor.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

const problem = await followLoginLink();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App linkProblem={problem} />
    </QueryClientProvider>
  </StrictMode>,
);
