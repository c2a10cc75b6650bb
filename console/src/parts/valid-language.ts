/** uPlot formats numbers by the language of the browser as it loads, and some browsers have one that no formatter knows (`en-US@posix`). */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
