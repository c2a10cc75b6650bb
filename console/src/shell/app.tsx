import { RouterProvider } from '@tanstack/react-router';
import { useSession } from '../api/queries';
import { Failure, Loading } from '../parts/states';
import { Login, LoginAgain } from './login';
import { router } from './router';

/** The login, or the console of a visitor who has logged in. */
export function App({ linkProblem }: { readonly linkProblem: string | null }) {
  const { data, error, isPending, refetch } = useSession();
  if (isPending) return <Loading what="Opening the console" />;
  if (data === undefined) return <Failure error={error!} onRetry={() => void refetch()} />;
  if (data === null) return <Login problem={linkProblem} />;
  return (
    <>
      <RouterProvider router={router} />
      {data.has_ended === true ? <LoginAgain former={data} /> : null}
    </>
  );
}
