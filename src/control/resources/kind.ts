import * as v from 'valibot';
import type { InputError } from '../../kernel/errors.js';
import type { Schema } from '../../schema/facts.js';
import { choice, field, required, section } from '../../schema/fields.js';
import { globalMetadata, statusOf, workspaceMetadata } from './parts.js';
import { API_VERSION, type Resource, type Status } from './resource.js';

/** The place of a field, for messages: `chat.yaml:4:9 (spec.replicas)`. */
export type PlaceOf = (path: string) => string;

export interface Column {
  readonly title: string;
  /** Shown by `-o wide` only. */
  readonly wide?: true;
  value(resource: Resource): string;
}

/** What the file of a kind defines; everything else is derived from it. */
export interface KindFacts<Spec extends v.GenericSchema> {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: 'workspace' | 'global';
  /** One sentence. */
  readonly summary: string;
  /** The least role that may change one; a viewer may read it. */
  readonly changedBy: 'operator' | 'admin';
  readonly spec: Spec;
  readonly phases: readonly [string, ...string[]];
  /** Fields of its status besides those of all kinds. */
  readonly status: v.ObjectEntries;
  /** What a table shows between the name and the age. */
  readonly columns: readonly Column[];
  /** A small valid spec, for documentation and tests. */
  readonly example: v.InferInput<Spec>;
  /** What the schema cannot express. */
  check?(spec: v.InferOutput<Spec>, placeOf: PlaceOf): InputError[];
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
  readonly schema: v.GenericSchema<unknown, Resource>;
  readonly specSchema: Schema;
  readonly statusSchema: v.GenericSchema<unknown, Status>;
  check(spec: Record<string, unknown>, placeOf: PlaceOf): InputError[];
}

export function defineKind<Spec extends v.GenericSchema>(facts: KindFacts<Spec>): ResourceKind {
  const { kind, scope, spec } = facts;
  const statusSchema = statusOf(facts.phases, facts.status);
  const schema = section(kind, {
    apiVersion: required(choice([API_VERSION]), { help: 'version of the format' }),
    kind: required(choice([kind]), { help: 'kind of the resource' }),
    metadata: required(scope === 'global' ? globalMetadata : workspaceMetadata, { help: 'name and labels' }),
    spec: specField(facts),
    status: field(statusSchema, { help: 'observed state, set by the control plane; ignored in files' }),
  });
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
    schema: schema as unknown as v.GenericSchema<unknown, Resource>,
    specSchema: spec as unknown as Schema,
    statusSchema: statusSchema as unknown as v.GenericSchema<unknown, Status>,
    check: (value, placeOf) => facts.check?.(value as v.InferOutput<Spec>, placeOf) ?? [],
  };
}

/** May be left out where every field of it has a default, or needs none. */
function specField<Spec extends v.GenericSchema>({ check, spec }: KindFacts<Spec>): v.GenericSchema {
  const empty = v.safeParse(spec, {});
  const isOptional = empty.success && (check?.(empty.output, (path) => path) ?? []).length === 0;
  const help = 'desired state';
  return isOptional ? field(spec, { default: {} as never, help }) : required(spec, { help });
}

/** A column of the spec or of the status, by its path; empty where the field is absent. */
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
