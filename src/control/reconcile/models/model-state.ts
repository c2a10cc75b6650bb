/** What is known of the model that an endpoint's replicas need. */
export type ModelState =
  /** Without a model here, the engine finds it itself. */
  | { readonly state: 'ready'; readonly model: FetchedModel | null }
  /** Quiet for how long, once nothing has come for a while. */
  | { readonly state: 'fetching'; readonly bytes: number; readonly total: number; readonly quietMs: number }
  | { readonly state: 'failed'; readonly message: string; readonly isPassing: boolean; readonly from: number };

export interface FetchedModel {
  /** What an engine loads: a folder, or one file. */
  readonly path: string;
  /** The same one is the same bytes. */
  readonly revision: string;
  /** What is said of it in the endpoint's status; enough to find it again. */
  readonly facts: Readonly<Record<string, unknown>>;
}
