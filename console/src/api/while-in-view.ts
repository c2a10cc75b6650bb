/**
 * Keeps a stream open while its tab is in view. A browser has six connections to an origin for all of its tabs: streams of tabs that
 * are out of view would take them from the one in view.
 * @param open opens the stream and returns what closes it
 * @returns closes the stream for good
 */
export function whileInView(open: () => () => void): () => void {
  let close: (() => void) | null = null;
  const follow = () => {
    if (document.hidden) {
      close?.();
      close = null;
    } else close ??= open();
  };
  document.addEventListener('visibilitychange', follow);
  follow();
  return () => {
    document.removeEventListener('visibilitychange', follow);
    close?.();
    close = null;
  };
}
