import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { useBestRole } from '../api/access';
import { live, useLive } from '../api/live';
import { useSession } from '../api/queries';
import { Button } from '../parts/basics';
import { LOCAL_ZONE, useZone } from '../parts/time';
import { Mark } from './mark';
import { Navigation } from './navigation';
import { Notices } from './notices';
import { useFocusOnPage, usePageTitle } from './page-title';
import { useTheme } from './theme';
import { useTour } from './tour/tour-state';
import { VisitorMenu } from './visitor-menu';
import { useWorkspace, WorkspaceChooser } from './workspace-chooser';

const Tour = lazy(async () => ({ default: (await import('./tour/tour')).Tour }));

/** Changes that follow each other quickly are read once. */
const REFRESH_MS = 1000;

/** What every page has around it. */
export function Shell() {
  useLiveStream();
  useFreshQueries();
  usePageTitle();
  useFocusOnPage();
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="topbar">
        <Link to="/" className="brand" aria-label="Twinyard: overview">
          <Mark />
          <span>Twinyard</span>
        </Link>
        <Navigation />
        <div className="topbar-end">
          <WorkspaceChooser />
          <LiveSwitch />
          <ZoneSwitch />
          <ThemeSwitch />
          <VisitorMenu />
        </div>
      </header>
      <Notices />
      <main id="content" className="content" tabIndex={-1}>
        <Outlet />
      </main>
      <TourPlace />
    </div>
  );
}

/** Follows what the visitor may see of the workspace in view. */
function useLiveStream(): void {
  const { data } = useSession();
  const { workspace: chosen } = useSearch({ strict: false });
  const shown = useWorkspace();
  // Without a choice the stream has all of them, and goes on from page to page.
  const workspace = chosen === undefined ? undefined : shown;
  const hasStore = data?.has_store === true;
  const isGlobal = (data?.role ?? 'none') !== 'none';
  const isViewer = useBestRole() !== 'none';
  const hasEnded = data?.has_ended === true;
  useEffect(() => {
    if (hasEnded) return;
    live.start(isViewer ? { hasStore, isGlobal, workspace } : null);
    return () => live.stop();
  }, [hasEnded, hasStore, isGlobal, isViewer, workspace]);
}

function TourPlace() {
  return useTour() ? (
    <Suspense fallback={null}>
      <Tour />
    </Suspense>
  ) : null;
}

/** Reads what is in view again when the stream reports a change. */
function useFreshQueries(): void {
  const client = useQueryClient();
  const changes = useLive((snapshot) => snapshot.changes);
  const last = useRef(0);
  useEffect(() => {
    if (changes === 0) return;
    const wait = Math.max(0, last.current + REFRESH_MS - Date.now());
    const timer = window.setTimeout(() => {
      last.current = Date.now();
      void client.invalidateQueries({ queryKey: ['api'] });
    }, wait);
    return () => window.clearTimeout(timer);
  }, [changes, client]);
}

function LiveSwitch() {
  const state = useLive((snapshot) => snapshot.state);
  const isPaused = state === 'paused';
  const words = { connecting: 'Connecting', live: 'Live', paused: 'Paused', lost: 'Lost' };
  return (
    <button
      type="button"
      className={`live live-${state}`}
      aria-pressed={!isPaused}
      title={isPaused ? 'Follow the gateway again' : 'Stop following: the page stays as it is'}
      onClick={() => (isPaused ? live.resume() : live.pause())}
    >
      <span className="dot" aria-hidden="true" />
      {words[state]}
    </button>
  );
}

function ZoneSwitch() {
  const [zone, toggle] = useZone();
  return (
    <Button look="quiet" onClick={toggle} title="Time zone of all times on the page">
      {zone === 'UTC' ? 'UTC' : LOCAL_ZONE}
    </Button>
  );
}

function ThemeSwitch() {
  const [theme, next] = useTheme();
  return (
    <Button look="quiet" onClick={next} aria-label={`Theme: ${theme}`} title={`Theme: ${theme}`}>
      <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="5.5" fill="none" />
        <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" className="filled" />
      </svg>
    </Button>
  );
}
