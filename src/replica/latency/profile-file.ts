import { readFileSync } from 'node:fs';
import { readProblem } from '../../files/file-problem.js';
import { decodeText } from '../../files/text-encoding.js';
import type { SchemaCodes } from '../../schema/problems.js';
import { readYaml } from '../../schema/read-yaml.js';
import type { YamlPlaces } from '../../schema/yaml-places.js';
import { badProfile, fileNotReadable } from '../errors.js';
import type { LatencyProfile, ProfileDimensions, TokenPoint } from './profile.js';
import { PROFILE_SCHEMA } from './profile-schema.js';

const CODES: SchemaCodes = { invalid: 'BAD_PROFILE', unknownKey: 'UNKNOWN_PROFILE_KEY' };

/** Reads a profile from a JSON or YAML file; the first problem is an error with its line. */
export function readProfile(path: string): LatencyProfile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw fileNotReadable(path, readProblem(error));
  }
  return parseProfile(decodeText(bytes, path), path);
}

export function parseProfile(text: string, path: string): LatencyProfile {
  const { given, places } = readYaml(text, path, PROFILE_SCHEMA, CODES, "start with 'version: 1'");
  const { fit: _, dimensions, ...profile } = camelCased(given) as LatencyProfile & { fit?: unknown };
  checkCurve(profile.step.decodeOnly, 'step.decode_only', places);
  checkCurve(profile.step.withPrefill, 'step.with_prefill', places);
  const launch = profile.step.launch ?? null;
  return {
    ...profile,
    // Early profiles have no costs of fresh engines.
    step: { ...profile.step, launch: launch === null ? null : { ...launch, firstUs: launch.firstUs ?? 0 } },
    scheduler: profile.scheduler ?? {},
    ...(dimensions === undefined ? {} : { dimensions: withNulls(dimensions) }),
  };
}

/** The file of a profile, with the report of its fit. Ends in a line break. */
export function profileText(profile: LatencyProfile, fit?: unknown): string {
  const { dimensions, step, ...rest } = profile;
  const { launch, ...costs } = step;
  const known = dimensions === undefined ? {} : { dimensions: withoutNulls(dimensions) };
  const file = { ...rest, step: launch === null ? costs : step, ...known, ...(fit === undefined ? {} : { fit }) };
  const lines = JSON.stringify(snakeCased(file), rounded, 2);
  // A point of a curve on one line.
  return `${lines.replace(/\{\s+"tokens": (\d+),\s+"us": ([\d.e-]+)\s+\}/g, '{ "tokens": $1, "us": $2 }')}\n`;
}

/** A head size that follows from the others is left out of the file. */
function withoutNulls({ model, ...rest }: ProfileDimensions): unknown {
  if (model === undefined) return rest;
  const { activation, headDim, ...sizes } = model;
  return {
    model: { ...sizes, ...(headDim === null ? {} : { headDim }), ...(activation === '' ? {} : { activation }) },
    ...rest,
  };
}

function withNulls({ model, ...rest }: ProfileDimensions): ProfileDimensions {
  if (model === undefined) return rest;
  return { model: { ...model, headDim: model.headDim ?? null, activation: model.activation ?? '' }, ...rest };
}

function checkCurve(points: readonly TokenPoint[], path: string, places: YamlPlaces): void {
  for (let i = 1; i < points.length; i++) {
    if (points[i]!.tokens > points[i - 1]!.tokens) continue;
    throw badProfile(places.of(`${path}[${i}].tokens`), 'does not exceed the point before it', 'give points in order');
  }
}

/** Six digits are more than any measurement has. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
}

function camelCased(value: unknown): unknown {
  return withKeys(value, (key) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
}

function snakeCased(value: unknown): unknown {
  return withKeys(value, (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

function withKeys(value: unknown, named: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => withKeys(one, named));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [named(key), withKeys(inner, named)]));
}
