import type { RayAccess } from '../../../ray/ray-transport.js';
import type { ClusterSettings, RaySettings } from '../contract.js';

const DEFAULTS: RaySettings = {
  url: 'http://127.0.0.1:8265',
  token: null,
  caFile: null,
  ports: [30_000, 30_999],
  nodeAddresses: {},
};

export const raySettings = ({ ray = {} }: ClusterSettings): RaySettings => ({ ...DEFAULTS, ...ray });

export const accessOf = ({ caFile, token, url }: RaySettings): RayAccess => ({
  url: url.replace(/\/+$/, ''),
  token,
  caFile,
});

/** Whether replicas would be looked for elsewhere. */
export const isOtherRay = (before: ClusterSettings, after: ClusterSettings) =>
  accessOf(raySettings(before)).url !== accessOf(raySettings(after)).url;
