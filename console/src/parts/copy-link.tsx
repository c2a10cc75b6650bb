import { useRouter } from '@tanstack/react-router';
import type { LabSearch, WhatIfSearch } from '../shell/router';
import { Button } from './basics';
import { useCopy } from './copy';

/** The address of a page with what it shows. */
export type PageAddress =
  | { readonly to: '/lab'; readonly search: LabSearch }
  | { readonly to: '/whatif'; readonly search: WhatIfSearch };

/** Copies the address of a result with the question that it is the result of, whatever the form says by now. */
export function CopyLink({ address }: { readonly address: PageAddress }) {
  const [said, copy] = useCopy();
  const { href } = useRouter().buildLocation(address);
  return <Button onClick={() => void copy(new URL(href, location.href).href)}>{said ?? 'Copy link'}</Button>;
}
