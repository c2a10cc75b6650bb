import { type FormEvent, useState } from 'react';
import { useMay } from '../../../api/access';
import { useChange, useGet } from '../../../api/queries';
import type { Resource } from '../../../api/types';
import { Button } from '../../../parts/basics';
import { Command } from '../../../parts/command';
import { inWorkspace, quoted } from '../../../parts/commands';
import { Dialog } from '../../../parts/dialog';
import { Failure } from '../../../parts/states';

/** Changes the number of replicas; 0 pauses the endpoint. */
export function ScaleButton({ base, name, workspace }: { base: string; name: string; workspace: string }) {
  const mayScale = useMay('operator', workspace);
  const [isOpen, setOpen] = useState(false);
  const { data } = useGet<Resource>(base);
  const change = useChange();
  const now = Number(data?.spec.replicas ?? 1);
  const [wanted, setWanted] = useState<string | null>(null);
  if (!mayScale) return null;
  const count = wanted ?? String(now);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { replicas: Number(count) };
    change.mutate({ method: 'PUT', path: `${base}/scale`, body }, { onSuccess: () => setOpen(false) });
  };
  return (
    <>
      <Button
        onClick={() => {
          setWanted(null);
          setOpen(true);
        }}
      >
        Scale
      </Button>
      <Dialog title={`Scale ${name}`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <form onSubmit={submit} className="form">
          <label className="field">
            <span>Replicas; 0 pauses the endpoint</span>
            <input
              type="number"
              min={0}
              max={1000}
              required
              value={count}
              onChange={(event) => setWanted(event.target.value)}
            />
          </label>
          <p className="muted">
            {Number(count) === now
              ? `${now} now`
              : Number(count) > now
                ? `${now} now: ${Number(count) - now} more will start`
                : `${now} now: ${now - Number(count)} will finish their requests and stop`}
          </p>
          <Command text={`twinyard scale ep/${quoted(name)} --replicas ${count}${inWorkspace(workspace)}`} />
          {change.error === null ? null : <Failure error={change.error} />}
          <div className="dialog-actions">
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button type="submit" look="primary" disabled={change.isPending || Number(count) === now}>
              Scale
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
