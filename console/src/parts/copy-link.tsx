import { Button } from './basics';
import { useCopy } from './copy';

/** Copies the address of the page, which has all that it shows. */
export function CopyLink() {
  const [said, copy] = useCopy();
  return <Button onClick={() => void copy(location.href)}>{said ?? 'Copy link'}</Button>;
}
