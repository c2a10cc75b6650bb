import { RunError } from '../../kernel/errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import { isSealed, type SecretBox } from '../../store/resources/secrets.js';
import { hiddenSecret } from '../resources/errors.js';
import type { PlaceOf, ResourceKind } from '../resources/kind.js';
import { HIDDEN } from '../resources/resource.js';
import { mapSecrets } from '../resources/secret-fields.js';

type Spec = Readonly<Record<string, unknown>>;
export type Secrets = Pick<SecretBox, 'seal' | 'unseal' | 'holds'>;

/** Without a key file: resources without secrets can be changed, others cannot. */
export const NO_SECRETS: Secrets = {
  seal: () => refuse(),
  unseal: () => refuse(),
  holds: () => refuse(),
};

function refuse(): never {
  throw new RunError('SECRETS_NOT_OPEN', 'the key file of secrets is not open here: use the control plane');
}

/**
 * A spec for the store: each secret is encrypted for its resource and place. A secret that is unchanged, or given as stars, keeps its
 * stored form; one that cannot be decrypted any more is replaced. Stars are refused without a stored secret, and when the address has
 * changed: otherwise a user who may change the address could have the secret sent to their own server.
 */
export function sealSpec(
  box: Secrets,
  kind: ResourceKind,
  ref: ResourceRef,
  spec: Spec,
  before: Spec | null,
  placeOf: PlaceOf,
): Record<string, unknown> {
  return mapSecrets(kind.specSchema, spec, before, ({ around, aroundBefore, before: sealed, path, place, value }) => {
    const where = sealPlace(ref, place);
    if (value === HIDDEN) {
      if (!isSealed(sealed)) throw hiddenSecret(placeOf(path), 'no secret is stored that the stars could stand for');
      if (around.url !== aroundBefore.url) throw hiddenSecret(placeOf(path), 'its address has changed');
      return sealed;
    }
    const text = String(value);
    return isSealed(sealed) && box.holds(sealed, text, where) ? sealed : box.seal(text, where);
  });
}

/** A spec with decrypted secrets. */
export function unsealSpec(box: Secrets, kind: ResourceKind, ref: ResourceRef, spec: Spec): Record<string, unknown> {
  return mapSecrets(kind.specSchema, spec, null, ({ place, value }) =>
    isSealed(value) ? box.unseal(value, sealPlace(ref, place)) : value,
  );
}

const sealPlace = ({ kind, name, workspace }: ResourceRef, place: string) => `${kind}/${workspace}/${name}:${place}`;
