import { Link, useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { useBestRole } from '../api/access';

interface Item {
  readonly to: '/' | '/requests' | '/lab' | '/whatif' | '/playground' | '/keys' | '/resources' | '/settings';
  readonly name: string;
  /** A path of 16 by 16. */
  readonly icon: string;
  /** Also for the holder of a key without a role. */
  readonly isOwn?: true;
}

/** The pages in the side bar, in their order. */
const ITEMS: readonly Item[] = [
  { to: '/', name: 'Overview', icon: 'M2 9h4v5H2zM6.5 5h3v9h-3zM10 2h4v12h-4z' },
  { to: '/requests', name: 'Requests', icon: 'M2 3.5h12M2 8h8M2 12.5h5' },
  { to: '/lab', name: 'Lab', icon: 'M6 2h4M7 2v4.5L2.5 14h11L9 6.5V2M4.8 10.5h6.4' },
  { to: '/whatif', name: 'What-if', icon: 'M2 12.5 6 7l3 3 5-6.5M10.5 3.5H14V7' },
  { to: '/playground', name: 'Playground', icon: 'M2 3h12v8H7l-3 3v-3H2z', isOwn: true },
  { to: '/keys', name: 'Keys and usage', icon: 'M5.5 13a3 3 0 1 1 2-5.2L13.5 2M11 4.5l2 2', isOwn: true },
  { to: '/resources', name: 'Resources', icon: 'M8 1.5 14 5 8 8.5 2 5zM2 8l6 3.5L14 8M2 11l6 3.5 6-3.5' },
  { to: '/settings', name: 'Settings', icon: 'M2 4.5h7M13 4.5h1M2 11.5h1M7 11.5h7M9 2.5v4h3v-4zM3.5 9.5v4h3v-4z' },
];

export function Navigation({ children }: { readonly children?: ReactNode }) {
  const isViewer = useBestRole() !== 'none';
  const place = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a narrow screen the pages scroll sideways: the present one is in sight.
  useEffect(() => {
    const active = place.current?.querySelector<HTMLElement>('.nav-link.active');
    if (active !== null && active !== undefined)
      place.current!.scrollLeft = active.offsetLeft - place.current!.offsetLeft;
  }, [pathname]);
  return (
    <nav ref={place} className="nav" aria-label="Pages">
      {ITEMS.filter(({ isOwn }) => isViewer || isOwn === true).map(({ icon, name, to }) => (
        <Link key={to} to={to} className="nav-link" activeOptions={{ exact: to === '/', includeSearch: false }}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d={icon} />
          </svg>
          <span>{name}</span>
        </Link>
      ))}
      {children}
    </nav>
  );
}
