import { parse } from 'yaml';
import { Button } from '../basics';
import { Differences, differencesOf } from '../differences';

/** A resource that was changed elsewhere while it was edited here. */
export function Conflict({
  after,
  before,
  onDiscard,
  onKeep,
}: {
  readonly before: string;
  readonly after: string;
  readonly onDiscard: () => void;
  readonly onKeep: () => void;
}) {
  return (
    <div className="conflict" role="alert">
      <p>
        <strong>It was changed elsewhere while you edited it:</strong>
      </p>
      <Differences items={differencesOf(parse(before), parse(after))} />
      <div className="dialog-actions">
        <Button onClick={onDiscard}>Discard my changes</Button>
        <Button onClick={onKeep}>Keep my text and apply it on top</Button>
      </div>
    </div>
  );
}
