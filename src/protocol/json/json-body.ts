import { ApiError } from '../errors.js';

/** A JSON object as received, with unknown fields. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A request's body, which must be a JSON object. */
export function parseJsonObject(bytes: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new ApiError('malformed', `The body is not valid JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new ApiError('malformed', 'The body must be a JSON object.');
  return value;
}

/** The field's text; null when it is absent. */
export function optionalText(body: JsonObject, field: string): string | null {
  const value = body[field] ?? null;
  if (value !== null && typeof value !== 'string') throw wrongType(field, 'a string');
  return value;
}

export function requiredText(body: JsonObject, field: string): string {
  const value = optionalText(body, field);
  if (value === null) throw new ApiError('malformed', `'${field}' is required.`, field);
  return value;
}

export function optionalFlag(body: JsonObject, field: string, standard: boolean): boolean {
  const value = body[field] ?? standard;
  if (typeof value !== 'boolean') throw wrongType(field, 'true or false');
  return value;
}

/** The field's whole number, which must be within the bounds; null when it is absent. */
export function optionalWhole(body: JsonObject, field: string, least: number, most: number): number | null {
  const value = body[field] ?? null;
  if (value === null) return null;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(field, 'a whole number');
  if (value < least || value > most) {
    throw new ApiError('malformed', `'${field}' must be from ${least} to ${most}, not ${value}.`, field);
  }
  return value;
}

export function wrongType(field: string, accepted: string): ApiError {
  return new ApiError('malformed', `'${field}' must be ${accepted}.`, field);
}
