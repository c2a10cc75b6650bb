import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../api/client';
import { live } from '../../api/live';
import { queryClient } from '../../api/queries';
import type { Page, Traffic } from '../../api/types';
import { Button } from '../../parts/basics';
import { closeTour } from './tour-state';
import { TOUR, type TourPlaces } from './tour-steps';

/** A page that loads slowly gets its mark late; one without the target gets none. */
const LOOK_MS = 100;
const MOST_LOOKS = 100;

/** A card beside the page, which goes through it in five steps. It can be left at any time: with its button, or Escape. */
export function Tour() {
  const [number, setNumber] = useState(0);
  const router = useRouter();
  const head = useRef<HTMLHeadingElement>(null);
  const step = TOUR[number]!;
  useEffect(() => {
    let isLeft = false;
    void placesOf().then((places) => {
      if (!isLeft) void router.navigate({ to: step.path(places) });
    });
    // Read out by screen readers, and where the keyboard goes on from.
    head.current?.focus();
    return () => {
      isLeft = true;
    };
  }, [router, step]);
  useMark(step.target);
  useEffect(() => {
    const leave = (event: KeyboardEvent) => {
      if (event.key === 'Escape') closeTour();
    };
    window.addEventListener('keydown', leave);
    return () => window.removeEventListener('keydown', leave);
  }, []);
  const isLast = number === TOUR.length - 1;
  return (
    <section className="tour" role="dialog" aria-labelledby="tour-title" aria-describedby="tour-text">
      <p className="muted">
        Step {number + 1} of {TOUR.length}
      </p>
      <h2 id="tour-title" ref={head} tabIndex={-1}>
        {step.title}
      </h2>
      <p id="tour-text">{step.text}</p>
      <div className="dialog-actions">
        <Button look="quiet" onClick={closeTour}>
          Close the tour
        </Button>
        {number === 0 ? null : <Button onClick={() => setNumber(number - 1)}>Back</Button>}
        <Button look="primary" onClick={() => (isLast ? closeTour() : setNumber(number + 1))}>
          {isLast ? 'Done' : 'Next'}
        </Button>
      </div>
    </section>
  );
}

/** The endpoint and a request that there are. */
async function placesOf(): Promise<TourPlaces> {
  // The stream may not have reported yet.
  const [endpoint] = (live.get().traffic ?? (await read<Traffic>('traffic?limit=1')))?.items ?? [];
  const requests = await read<Page<{ id: string }>>('requests?limit=1&outcome=ok');
  return { endpoint: endpoint ?? null, request: requests?.items[0]?.id ?? null };
}

const read = <Result,>(path: string): Promise<Result | null> =>
  queryClient
    .fetchQuery({ queryKey: ['tour', path], queryFn: () => call<Result>('GET', path), staleTime: 0 })
    .catch(() => null);

/** Marks the first element of a selector once it is there. */
function useMark(selector: string): void {
  useEffect(() => {
    let marked: Element | null = null;
    let looks = 0;
    const timer = window.setInterval(() => {
      const found = document.querySelector(`main ${selector.replaceAll(', ', ', main ')}`);
      if (found !== marked) {
        marked?.removeAttribute('data-tour');
        found?.setAttribute('data-tour', '');
        found?.scrollIntoView({ block: 'nearest' });
        marked = found;
      }
      looks++;
      if (looks >= MOST_LOOKS) window.clearInterval(timer);
    }, LOOK_MS);
    return () => {
      window.clearInterval(timer);
      marked?.removeAttribute('data-tour');
    };
  }, [selector]);
}
