import { z } from 'zod';
import {
  choicesOf,
  entriesOf,
  factsOf,
  isOptional,
  itemOf,
  requirementsOf,
  type Schema,
  typeOf,
} from '../../schema/facts.js';

/** The zod schema of what a policy file may hold, so that an endpoint takes the same keys as the file does. */
export function zodOfKind(schema: Schema): z.ZodType {
  switch (typeOf(schema)) {
    case 'string':
      return z.string().max(200);
    case 'picklist':
      return z.enum(choicesOf(schema) as [string, ...string[]]);
    case 'number': {
      const requirements = requirementsOf(schema);
      const bound = (name: string) => requirements.get(name) as number | undefined;
      let made = requirements.has('integer') ? z.int() : z.number();
      if (Number.isFinite(bound('min_value'))) made = made.min(bound('min_value')!);
      if (Number.isFinite(bound('gt_value'))) made = made.gt(bound('gt_value')!);
      if (Number.isFinite(bound('max_value'))) made = made.max(bound('max_value')!);
      return made;
    }
    case 'boolean':
      return z.boolean();
    case 'array':
      return z.array(zodOfKind(itemOf(schema)!));
    case 'record':
      return z.record(z.string(), zodOfKind(itemOf(schema)!));
    case 'strict_object':
      return z.strictObject(
        Object.fromEntries(
          Object.entries(entriesOf(schema)!).map(([name, inner]) => {
            const made = zodOfKind(inner).describe(factsOf(inner).help ?? '');
            return [name, isOptional(inner) ? made.optional() : made];
          }),
        ),
      );
    default:
      return z.unknown();
  }
}
