import { useState } from 'react';
import { useMay } from '../../../api/access';
import { useChange, useGet } from '../../../api/queries';
import type { Page, Resource } from '../../../api/types';
import { Button } from '../../../parts/basics';
import { Command } from '../../../parts/command';
import { inWorkspace, quoted } from '../../../parts/commands';
import { Dialog } from '../../../parts/dialog';
import type { Revision } from '../../../parts/revisions';
import { Failure } from '../../../parts/states';

/** Stops every replica after its last request, or starts as many as there were before. */
export function PauseButton({ base, name, workspace }: { base: string; name: string; workspace: string }) {
  const mayChange = useMay('operator', workspace);
  // While it is open, the dialog is about what was asked for: the state of the endpoint changes before it closes.
  const [asked, setAsked] = useState<'Pause' | 'Resume' | null>(null);
  const change = useChange();
  const { data } = useGet<Resource>(base);
  const isPaused = data?.spec.replicas === 0;
  const word = isPaused ? 'Resume' : 'Pause';
  const isResumed = (asked ?? word) === 'Resume';
  const { data: revisions } = useGet<Page<Revision>>(mayChange && isPaused ? `${base}/revisions` : null);
  if (!mayChange || data === undefined) return null;
  const before = revisions?.items.find(({ spec }) => Number(spec.replicas) > 0);
  const replicas = isResumed ? Number(before?.spec.replicas ?? 1) : 0;
  return (
    <>
      <Button onClick={() => setAsked(word)}>{word}</Button>
      <Dialog title={`${asked ?? word} ${name}`} isOpen={asked !== null} onClose={() => setAsked(null)}>
        <p>
          {isResumed
            ? `${replicas} ${replicas === 1 ? 'replica starts' : 'replicas start'}, as before the pause.`
            : 'Every replica gets no new requests, finishes those under way and stops. The endpoint stays declared; requests to it are refused until it is resumed.'}
        </p>
        <Command text={`twinyard scale ep/${quoted(name)} --replicas ${replicas}${inWorkspace(workspace)}`} />
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={() => setAsked(null)}>Cancel</Button>
          <Button
            look="primary"
            disabled={change.isPending}
            onClick={() =>
              change.mutate(
                { method: 'PUT', path: `${base}/scale`, body: { replicas } },
                { onSuccess: () => setAsked(null) },
              )
            }
          >
            {asked ?? word}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
