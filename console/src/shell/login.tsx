import { type FormEvent, useState } from 'react';
import type { ApiFailure } from '../api/client';
import { logIn } from '../api/queries';
import { Button } from '../parts/basics';
import { Command } from '../parts/command';
import { Mark } from './mark';

export function Login({ problem }: { readonly problem: string | null }) {
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
    <main className="login">
      <form className="login-card" onSubmit={submit}>
        <div className="login-brand">
          <Mark />
          <h1>Twinyard</h1>
        </div>
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
        <div className="login-help muted">
          <p>A demo prints the token when it starts; else it is in the data folder of the gateway:</p>
          <Command text="cat .twinyard/admin-token" />
        </div>
      </form>
    </main>
  );
}
