import { z } from 'zod';
import type { InputError } from '../../kernel/errors.js';
import { globalMetadata, statusOf, workspaceMetadata } from './parts.js';
import { API_VERSION, type Resource } from './resource.js';

/** Where a part of a resource stands, for messages: `chat.yaml:4:9 (spec.replicas)`. */
export type PlaceOf = (path: string) => string;

export interface Column {
  readonly title: string;
  /** Shown by `-o wide` only. */
  readonly wide?: true;
  value(resource: Resource): string;
}

/** What one file says of a kind of resource; everything else follows from it. */
export interface KindFacts<Spec extends z.ZodType> {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: 'workspace' | 'global';
  /** One sentence. */
  readonly summary: string;
  /** The least that whoever changes one must be; a viewer may look. */
  readonly changedBy: 'operator' | 'admin';
  readonly spec: Spec;
  readonly phases: readonly [string, ...string[]];
  /** What its status has beside the phase. */
  readonly status: z.ZodRawShape;
  /** What a table shows between the name and the age. */
  readonly columns: readonly Column[];
  /** A small spec that is right, for documentation and tests. */
  readonly example: z.input<Spec>;
  /** What the schema cannot say. */
  check?(spec: z.output<Spec>, placeOf: PlaceOf): InputError[];
}

export interface ResourceKind {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: 'workspace' | 'global';
  readonly summary: string;
  readonly changedBy: 'operator' | 'admin';
  readonly columns: readonly Column[];
  readonly phases: readonly string[];
  readonly example: Record<string, unknown>;
  /** The whole resource. */
  readonly schema: z.ZodType<Resource>;
  readonly statusSchema: z.ZodType;
  /** The resource as people write it, in JSON Schema; made on first use. */
  readonly jsonSchema: JsonSchema;
  check(spec: Record<string, unknown>, placeOf: PlaceOf): InputError[];
}

/** As much of JSON Schema as is walked here. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly writeOnly?: boolean;
  readonly [more: string]: unknown;
}

export function defineKind<Spec extends z.ZodType>(facts: KindFacts<Spec>): ResourceKind {
  const { kind, scope, spec } = facts;
  const statusSchema = statusOf(facts.phases, facts.status);
  const schema = z.strictObject({
    apiVersion: z.literal(API_VERSION).describe('The version of the format'),
    kind: z.literal(kind),
    metadata: scope === 'global' ? globalMetadata : workspaceMetadata,
    spec,
    status: statusSchema.optional().describe('Set by the control plane; what is given is not read'),
  });
  let jsonSchema: JsonSchema | undefined;
  return {
    kind,
    plural: facts.plural,
    shortNames: facts.shortNames,
    scope,
    summary: facts.summary,
    changedBy: facts.changedBy,
    columns: facts.columns,
    phases: facts.phases,
    example: facts.example as Record<string, unknown>,
    schema: schema as unknown as z.ZodType<Resource>,
    statusSchema,
    get jsonSchema() {
      jsonSchema ??= z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
      return jsonSchema;
    },
    check: (value, placeOf) => facts.check?.(value as z.output<Spec>, placeOf) ?? [],
  };
}

/** A column of the spec or of the status, by its path; '' for what is absent. */
export function column(title: string, path: string, wide?: 'wide'): Column {
  const steps = path.split('.');
  return {
    title,
    ...(wide === undefined ? {} : { wide: true }),
    value(resource) {
      let value: unknown = resource;
      for (const step of steps) value = (value as Record<string, unknown> | undefined)?.[step];
      if (value === undefined || value === null) return '';
      return Array.isArray(value) ? value.join(',') : String(value);
    },
  };
}
