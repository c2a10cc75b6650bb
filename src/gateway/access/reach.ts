/** The workspace of a grant that stands for every workspace. */
export const EVERY_WORKSPACE = '*';

/** A workspace that a request reaches, and the models there; null for all of them. */
export interface ReachedWorkspace {
  readonly workspace: string;
  readonly models: ReadonlySet<string> | null;
}

/** Where a request may go. Earlier workspaces are preferred to later ones. */
export type Reach = readonly ReachedWorkspace[];

/** The reach of requests where no key is required. */
export const EVERYTHING: Reach = [{ workspace: EVERY_WORKSPACE, models: null }];

/**
 * Whether a workspace is within reach.
 * @param model a model that must be as well; null for any
 */
export function isReached(reach: Reach, workspace: string, model: string | null): boolean {
  for (const reached of reach) {
    const isHere = reached.workspace === workspace || reached.workspace === EVERY_WORKSPACE;
    if (isHere && (model === null || reached.models === null || reached.models.has(model))) return true;
  }
  return false;
}
