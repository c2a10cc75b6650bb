import { useMatches, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** What the page is called, for the title of its tab. */
    readonly title?: (parameters: Readonly<Record<string, string>>) => string;
  }
}

export const titled = (page: string) => `${page} · Twinyard`;

/** Names the tab after the page in view. A page that was not found has the name of none. */
export function usePageTitle(): void {
  const name = useMatches({
    select(matches) {
      const last = matches.at(-1);
      return last?.staticData.title?.(last.params) ?? 'No such page';
    },
  });
  useEffect(() => {
    document.title = titled(name);
  }, [name]);
}

/** After a change of page the keyboard and screen readers go on at its heading, unless something of the page or a dialog has the focus. */
export function useFocusOnPage(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        // The first page has the focus of the browser.
        if (!pathChanged || fromLocation === undefined) return;
        if (document.activeElement?.closest('main, [role=dialog]') !== null) return;
        const content = document.querySelector<HTMLElement>('#content');
        (content?.querySelector('h1') ?? content)?.focus({ preventScroll: true });
      }),
    [router],
  );
}
