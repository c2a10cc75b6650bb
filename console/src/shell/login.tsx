import { Dialog } from '@base-ui/react/dialog';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import type { ApiFailure } from '../api/client';
import { logIn } from '../api/session';
import type { Session } from '../api/types';
import { Button } from '../parts/basics';
import { Command } from '../parts/command';
import { Mark } from './mark';
import { titled } from './page-title';

export function Login({ problem }: { readonly problem: string | null }) {
  useEffect(() => {
    document.title = titled('Log in');
  }, []);
  return (
    <main className="login">
      <div className="login-card">
        <div className="login-brand">
          <Mark />
          <h1>Twinyard</h1>
        </div>
        <LoginForm problem={problem} />
        <div className="login-help muted">
          <p>A demo prints the token when it starts; else it is in the data folder of the gateway:</p>
          <Command text="cat .twinyard/admin-token" />
        </div>
      </div>
    </main>
  );
}

/** Over the page of a visitor whose session has ended: it is out of sight, and goes on as it was. */
export function LoginAgain({ former }: { readonly former: Session }) {
  const client = useQueryClient();
  // What could not be read meanwhile is read again, whoever opened the session: this tab or another one.
  useEffect(() => () => void client.invalidateQueries(), [client]);
  return (
    <Dialog.Root open>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop ended-backdrop" />
        <Dialog.Popup className="dialog ended-dialog">
          <Dialog.Title>Your session has ended</Dialog.Title>
          <p>
            The page stays as {former.name} left it: log in again and go on. For another visitor the console starts
            afresh.
          </p>
          <LoginForm problem={null} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function LoginForm({ problem }: { readonly problem: string | null }) {
  const [failure, setFailure] = useState<string | null>(problem);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const credential = String(new FormData(event.currentTarget).get('credential') ?? '').trim();
    setBusy(true);
    try {
      await logIn(credential);
    } catch (error) {
      setFailure((error as ApiFailure).message);
      setBusy(false);
    }
  };
  return (
    <form className="form" onSubmit={submit}>
      <label className="field">
        <span>Admin token, or API key with a role</span>
        <input name="credential" type="password" autoComplete="current-password" required />
      </label>
      {failure === null ? null : (
        <p className="login-problem" role="alert">
          {failure}
        </p>
      )}
      <Button type="submit" look="primary" disabled={isBusy}>
        {isBusy ? 'Logging in…' : 'Log in'}
      </Button>
    </form>
  );
}
