import { RouterProvider } from '@tanstack/react-router';
import { useEffect } from 'react';
import { live } from '../api/live';
import { useSession } from '../api/queries';
import type { Session } from '../api/types';
import { Failure, Loading } from '../parts/states';
import { Login } from './login';
import { router } from './router';

/** The login, or the console of a visitor who has logged in. */
export function App({ linkProblem }: { readonly linkProblem: string | null }) {
  const { data, error, isPending, refetch } = useSession();
  if (isPending) return <Loading what="Opening the console" />;
  if (data === undefined) return <Failure error={error!} onRetry={() => void refetch()} />;
  if (data === null) return <Login problem={linkProblem} />;
  return <Console session={data} />;
}

function Console({ session }: { readonly session: Session }) {
  const { has_store: hasStore, role } = session;
  const isGlobal = role !== 'none';
  const isViewer = isGlobal || Object.keys(session.workspaces).length > 0;
  useEffect(() => {
    if (!isViewer) return;
    live.start({ hasStore, isGlobal });
    return () => live.stop();
  }, [hasStore, isGlobal, isViewer]);
  return <RouterProvider router={router} />;
}
