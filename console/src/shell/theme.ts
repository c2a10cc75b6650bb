import { useEffect, useState } from 'react';

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEY = 'twinyard.theme';

const stored = (): Theme => THEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'system';

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

show(stored());

/** Dark or light: as the system has it, unless the visitor has chosen. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState(stored);
  useEffect(() => {
    localStorage.setItem(KEY, theme);
    show(theme);
  }, [theme]);
  return [theme, () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!)];
}
