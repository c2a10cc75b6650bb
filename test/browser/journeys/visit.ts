import type { BrowserContext, Page } from 'playwright-core';
import type { ConsoleYard } from '../console-yard.js';

/** Waits for conditions only: as long as a slow machine needs. Set it lower to see a failure soon. */
export const WAIT_MS = Number(process.env.TWINYARD_WAIT_MS ?? 120_000);

/** What journeys share: one gateway, one browser, and the page of an admin who has logged in. */
export interface Visit {
  readonly yard: ConsoleYard;
  /** The page of the admin; valid inside of tests. */
  page(): Page;
  /** A fresh browser context with a page that has logged in. */
  logIn(credential: string): Promise<{ page: Page; context: BrowserContext }>;
}
