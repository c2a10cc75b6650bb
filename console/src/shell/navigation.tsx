import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface Item {
  readonly to: '/' | '/requests';
  readonly name: string;
  /** A path of 16 by 16. */
  readonly icon: string;
}

/** The pages in the side bar, in their order. */
const ITEMS: readonly Item[] = [
  { to: '/', name: 'Overview', icon: 'M2 9h4v5H2zM6.5 5h3v9h-3zM10 2h4v12h-4z' },
  { to: '/requests', name: 'Requests', icon: 'M2 3.5h12M2 8h8M2 12.5h5' },
];

export function Navigation({ children }: { readonly children?: ReactNode }) {
  return (
    <nav className="nav" aria-label="Pages">
      {ITEMS.map(({ icon, name, to }) => (
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
