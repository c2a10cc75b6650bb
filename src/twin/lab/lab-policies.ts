import { FLOW_CONTROL_SCHEMA } from '../../policy/bundle/flow-control-schema.js';
import { ADMISSION_POLICIES, ROUTING_POLICIES } from '../../policy/registry.js';
import { defaultOf, entriesOf, factsOf, itemOf, type Schema, typeOf } from '../../schema/facts.js';
import { field, section, text } from '../../schema/fields.js';
import { type JsonSchema, jsonSchema } from '../../schema/json-schema.js';
import { admissionFlag } from './lab-arguments.js';

export interface LabPolicy {
  readonly name: string;
  readonly summary: string;
  /** JSON Schema of the options that a command line can set. */
  readonly options: JsonSchema;
}

interface Described {
  readonly name: string;
  readonly summary: string;
  readonly options: object;
}

interface LabPolicies {
  readonly policies: LabPolicy[];
  readonly admission: LabPolicy[];
  readonly flow_control: JsonSchema;
}

let made: Promise<LabPolicies> | null = null;

/** What decides in an experiment, with the schemas that forms are made from. Made once: a schema takes milliseconds. */
export function labPolicies(): Promise<LabPolicies> {
  made ??= makeLabPolicies();
  return made;
}

async function makeLabPolicies(): Promise<LabPolicies> {
  const [policies, admission, flowControl] = await Promise.all([
    Promise.all(ROUTING_POLICIES.map((one) => described(one, (_, schema) => isPlain(schema)))),
    Promise.all(
      ADMISSION_POLICIES.map((one) => described(one, (option) => admissionFlag(one.name, option) !== undefined)),
    ),
    jsonSchema(FLOW_CONTROL_SCHEMA),
  ]);
  return { policies, admission, flow_control: flowControl };
}

async function described(
  { name, options, summary }: Described,
  isSettable: (option: string, schema: Schema) => boolean,
): Promise<LabPolicy> {
  const settable = Object.entries(options as Record<string, Schema>).filter(([option, one]) => isSettable(option, one));
  const entries = settable.map(([option, one]) => [option, typeOf(one) === 'custom' ? asText(one) : one]);
  return { name, summary, options: await jsonSchema(section(name, Object.fromEntries(entries))) };
}

/** A schema with a notation of its own, which JSON Schema cannot describe. */
const asText = (schema: Schema) =>
  field(text(), { help: factsOf(schema).help ?? '', default: String(defaultOf(schema)) });

/** A map or a list has no place in the name of a policy. */
const isPlain = (schema: Schema) => entriesOf(schema) === null && itemOf(schema) === null;
