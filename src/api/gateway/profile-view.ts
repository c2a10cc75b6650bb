import { namedEndpoint } from '../../gateway/fleet/endpoint-name.js';
import { PREDICTION_METRICS } from '../../gateway/prediction/error-window.js';
import type { EngineProfileState } from '../../gateway/prediction/profile-book.js';
import { profileDocument } from '../../gateway/prediction/profile-document.js';
import type { ServedGateway } from '../api-host.js';

export function profileView(gateway: ServedGateway, state: EngineProfileState) {
  const { ageS, assumes, drift, engine, isPinned, isUsed, problem, score, source } = state;
  const { name, workspace } = namedEndpoint(gateway.endpoints, state.endpoint);
  const traffic = gateway.traffic.observed.find(state.endpoint, engine);
  const errors = PREDICTION_METRICS.map((metric) => [metric, traffic?.errorsOf(metric).stats() ?? null]);
  return {
    ...{ workspace, endpoint: name, engine, source, used: isUsed, pinned: isPinned, age_s: ageS, score },
    errors: Object.fromEntries(errors),
    samples: traffic?.samples.count ?? 0,
    drift:
      drift === null
        ? null
        : { reason: drift.reason, message: drift.message, since_s: gateway.nowMs() / 1000 - drift.sinceUs / 1e6 },
    assumes,
    problem,
  };
}

/** With the profile itself. */
export function profileFileView(gateway: ServedGateway, state: EngineProfileState) {
  const { profile } = state;
  return { ...profileView(gateway, state), profile: profile === null ? null : profileDocument(profile) };
}
