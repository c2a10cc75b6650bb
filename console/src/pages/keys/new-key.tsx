import { type FormEvent, useState } from 'react';
import { pathOf } from '../../api/client';
import { useChange } from '../../api/queries';
import type { Resource } from '../../api/types';
import { Button } from '../../parts/basics';
import { Dialog } from '../../parts/dialog';
import { Failure } from '../../parts/states';
import { type IssuedKey, LIMITS } from './key-list';
import { Secret } from './secret';

/** Creates a key and issues its secret: where only the second fails, it alone is tried again. */
export function NewKey({ workspace }: { readonly workspace: string }) {
  const [isOpen, setOpen] = useState(false);
  const create = useChange<Resource>();
  const issue = useChange<IssuedKey>();
  const base = `workspaces/${pathOf(workspace, 'apikeys')}`;
  const issueOf = (name: string) => issue.mutate({ method: 'POST', path: `${base}/${pathOf(name, 'issue')}` });
  const created = create.data?.metadata.name;
  const secret = issue.data?.key;
  const close = () => {
    create.reset();
    issue.reset();
    setOpen(false);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = (name: string) => String(form.get(name) ?? '').trim();
    const limits = LIMITS.flatMap(([name]) => (given(name) === '' ? [] : [[name, Number(given(name))] as const]));
    const models = given('models')
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
    const spec = {
      role: given('role'),
      ...(models.length === 0 ? {} : { models }),
      ...(given('expires') === '' ? {} : { expires_at: `${given('expires')}T00:00:00Z` }),
      ...(limits.length === 0 ? {} : { limits: { '*': Object.fromEntries(limits) } }),
    };
    const body = { apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: given('name'), workspace }, spec };
    create.mutate({ method: 'POST', path: base, body }, { onSuccess: ({ metadata }) => issueOf(metadata.name) });
  };
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        New key
      </Button>
      <Dialog
        title={`New API key in ${workspace}`}
        isOpen={isOpen}
        onClose={close}
        isClosedByButton={secret !== undefined}
      >
        {secret !== undefined ? (
          <>
            <Secret secret={secret} />
            <div className="dialog-actions">
              <Button onClick={close}>Done</Button>
            </div>
          </>
        ) : created !== undefined ? (
          <>
            <p>The key {created} is created. Its secret is issued in a second step.</p>
            {issue.error === null ? null : <Failure error={issue.error} />}
            <div className="dialog-actions">
              <Button onClick={close}>Close</Button>
              <Button look="primary" disabled={issue.isPending} onClick={() => issueOf(created)}>
                Issue the secret
              </Button>
            </div>
          </>
        ) : (
          <form className="form" onSubmit={submit}>
            <label className="field">
              <span>Name</span>
              <input
                name="name"
                required
                pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
                title="a-z, 0-9 and -"
                maxLength={63}
              />
            </label>
            <label className="field">
              <span>Role in the console and the API</span>
              <select name="role" defaultValue="none">
                <option value="none">none: requests to models only</option>
                <option value="viewer">viewer: reads everything</option>
                <option value="operator">operator: changes endpoints</option>
                <option value="admin">admin: changes everything</option>
              </select>
            </label>
            <label className="field">
              <span>Models, separated by commas; empty for all</span>
              <input name="models" />
            </label>
            <label className="field">
              <span>Refused from this day on, UTC; empty for never</span>
              <input name="expires" type="date" />
            </label>
            <fieldset className="limit-fields">
              <legend>
                Limits of all models together; empty for none. Those of single models are set on the page of the key.
              </legend>
              {LIMITS.map(([name, label]) => (
                <label key={name} className="field">
                  <span>{label}</span>
                  <input name={name} type="number" min={0} step="any" />
                </label>
              ))}
            </fieldset>
            {create.error === null ? null : <Failure error={create.error} />}
            <div className="dialog-actions">
              <Button onClick={close}>Cancel</Button>
              <Button type="submit" look="primary" disabled={create.isPending}>
                Create
              </Button>
            </div>
          </form>
        )}
      </Dialog>
    </>
  );
}
