import { parsePolicyText } from '../../../policy/bundle/policy-text.js';
import { policyOptions } from '../../../policy/policy-options.js';
import { admissionPolicy } from '../../../policy/registry.js';
import { admissionFlag } from '../../../twin/lab/lab-arguments.js';
import { labChoices } from '../../../twin/lab/lab-choices.js';
import { LAB_LIMITS, type LabFleet, type LabQuestion } from '../../../twin/lab/lab-question.js';
import { badBody } from '../../errors.js';

/** Throws where it is clear that an experiment would fail: names that nothing has, and settings that exclude each other. */
export function checkQuestion(question: LabQuestion): void {
  checkTraffic(question);
  checkPolicies(question);
  checkAdmission(question);
  checkFleet(question.fleet);
}

function checkTraffic({ policies, traffic }: LabQuestion): void {
  const { rate, rates, recording, requests, upload, workload } = traffic;
  const sources = [workload, upload, recording].filter((source) => source !== undefined);
  const hint = "give one of 'workload', 'upload' and 'recording'";
  if (sources.length !== 1) throw badBody('traffic', sources.length === 0 ? 'has no source' : 'has two sources', hint);
  if (rate !== undefined && rates !== undefined)
    throw badBody('traffic.rates', "is given together with 'rate'", 'keep one of them');
  if (rates !== undefined && new Set(rates).size < rates.length)
    throw badBody('traffic.rates', 'has one twice', 'give each rate once');
  if (policies.length < 2 && rates === undefined)
    throw badBody('policies', 'has nothing to compare with', "name two policies, or give several 'rates'");
  if (recording === undefined && upload?.format !== 'trace') return;
  const own = Object.entries({ rate, rates, requests }).find(([, value]) => value !== undefined);
  if (own !== undefined) throw badBody(`traffic.${own[0]}`, 'a trace has its own requests', 'leave it out');
}

function checkPolicies({ policies }: LabQuestion): void {
  if (new Set(policies).size < policies.length) throw badBody('policies', 'has one twice', 'name each once');
  for (const [i, given] of policies.entries()) parsePolicyText(given, `body (policies[${i}])`);
}

/** Options without a flag are refused: the command could not have them. */
function checkAdmission({ admission }: LabQuestion): void {
  if (admission === undefined) return;
  const policy = admissionPolicy(admission.policy, 'body (admission.policy)');
  policyOptions(policy, admission.options, 'body (admission.options)');
  const without = Object.keys(admission.options).find((option) => admissionFlag(policy.name, option) === undefined);
  if (without === undefined) return;
  const hint = "leave it out, or run 'twinyard compare --policy-config', which takes every option";
  throw badBody(`admission.options.${without}`, 'has no flag', hint);
}

function checkFleet(fleet: LabFleet): void {
  const { hardware, kinds, latency_model: model, profile, replicas, tp } = fleet;
  checkNames(fleet);
  const excluded = kinds !== undefined ? { hardware, tp, replicas, profile } : {};
  const measured = profile !== undefined ? { hardware, tp, latency_model: model } : {};
  for (const [by, others] of [
    ['kinds', excluded],
    ['profile', measured],
  ] as const) {
    const other = Object.entries(others).find(([, value]) => value !== undefined);
    if (other !== undefined) throw badBody(`fleet.${other[0]}`, `is given together with '${by}'`, 'leave it out');
  }
  const all = kinds?.reduce((sum, kind) => sum + kind.replicas, 0) ?? 0;
  if (all > LAB_LIMITS.replicas)
    throw badBody('fleet.kinds', `has ${all} replicas`, `give at most ${LAB_LIMITS.replicas}`);
}

/** Model and GPUs have to be in the catalogue. A profile names its own. */
function checkNames({ hardware, kinds, model, profile }: LabFleet): void {
  const { hardware: gpus, models } = labChoices();
  const folderOf = (name: string) => name.slice(name.indexOf('/') + 1).toLowerCase();
  if (model === undefined && profile === undefined)
    throw badBody('fleet.model', 'is missing', "name one of GET /api/v1/lab/choices, or give 'profile'");
  if (model !== undefined && !models.some(({ name }) => folderOf(name) === folderOf(model)))
    throw badBody('fleet.model', `'${model}' is not in the catalogue`, 'see GET /api/v1/lab/choices');
  const named = (kinds ?? []).map((kind, i) => ({ name: kind.hardware, place: `fleet.kinds[${i}].hardware` }));
  for (const { name, place } of [{ name: hardware, place: 'fleet.hardware' }, ...named]) {
    if (name === undefined || gpus.some((gpu) => gpu.toLowerCase() === name.toLowerCase())) continue;
    throw badBody(place, `'${name}' is not in the catalogue`, `give one of ${gpus.join(', ')}`);
  }
}
