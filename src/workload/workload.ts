import type { RequestTable } from './request-table.js';

/** A workload: requests known up front and, for sessions, the driver that creates later turns. */
export interface Workload {
  table: RequestTable;
  /** Present when the end of a request can cause another one. */
  sessions?: SessionDriver;
}

/** Creates the later turns of sessions and of closed-loop clients. */
export interface SessionDriver {
  /**
   * The request has left the cluster at `atUs` (completed) or is lost (timed out, dropped, rejected anywhere).
   * Appends the next turn to the table, arrival included, and returns its row; -1 when the session is over or its next turn
   * would come after the horizon (Infinity for none).
   */
  left(table: RequestTable, row: number, completed: boolean, atUs: number, horizonUs: number): number;
}
