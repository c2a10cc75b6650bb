/** The state of the model that an endpoint's replicas need. */
export type ModelState =
  /** Null: the engine downloads the model itself. */
  | { readonly state: 'ready'; readonly model: FetchedModel | null }
  /** `quietMs`: how long no byte has arrived, 0 until that is notable. */
  | { readonly state: 'fetching'; readonly bytes: number; readonly total: number; readonly quietMs: number }
  | { readonly state: 'failed'; readonly message: string; readonly isTransient: boolean; readonly retryAt: number };

export interface FetchedModel {
  /** What an engine loads: a folder, or one file. */
  readonly path: string;
  /** Identifies the content: the same revision is the same bytes. */
  readonly revision: string;
  /** Shown in the endpoint's status; enough to find the model again. */
  readonly facts: Readonly<Record<string, unknown>>;
}
